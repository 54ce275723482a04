// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/cli/progress_bar.h"
#include "app/cli/readable.h"
#include "core/workload/text_scan.h"

namespace ballast::cli {

namespace {

struct Arguments {
    ScanOptions options;
    std::string order = "path";
    std::vector<std::string> lengths;
    bool json = false;
};

std::string answerJson(const ScanOptions& options, const ScanResult& result) {
    const nlohmann::ordered_json answer = {
        {"prefix", options.prefix.string()},
        {"files", result.files},
        {"documents", result.documents},
        {"tokens", result.tokens},
        {"skipped",
         {{"empty", result.emptyFiles},
          {"binary", result.binaryFiles},
          {"compressed", result.compressedFiles},
          {"links", result.links},
          {"unreadable", result.unreadable}}},
        {"over_window", {{"documents", result.overlongDocuments}, {"tokens", result.overlongTokens}}},
        {"beyond_cap", {{"files", result.filesBeyondCap}, {"bytes", result.bytesBeyondCap}}}};
    return answer.dump();
}

void printResult(const ScanOptions& options, const ScanResult& result) {
    const std::string prefix = options.prefix.string();
    fmt::print("{} documents, {} tokens (bytes) from {} text files -> {}.bin, {}.idx, {}.files\n",
               grouped(result.documents), grouped(result.tokens), grouped(result.files), prefix, prefix,
               prefix);
    fmt::print("skipped: {} empty, {} binary, {} compressed, {} links, {} unreadable\n",
               grouped(result.emptyFiles), grouped(result.binaryFiles), grouped(result.compressedFiles),
               grouped(result.links), grouped(result.unreadable));
    if (options.window) {
        const double share = result.tokens > 0 ? static_cast<double>(result.overlongTokens) /
                                                     static_cast<double>(result.tokens)
                                               : 0;
        fmt::print(
            "longer than the window of {} tokens: {} documents with {} tokens ({}); written, but not "
            "counted toward --max-tokens\n",
            grouped(*options.window), grouped(result.overlongDocuments), grouped(result.overlongTokens),
            readableShare(share));
    }
    if (options.maxTokens || options.maxFiles)
        fmt::print("left out by the cap: {} files not looked at, {} bytes\n", grouped(result.filesBeyondCap),
                   grouped(result.bytesBeyondCap));
}

int scan(Arguments arguments) {
    ScanOptions& options = arguments.options;
    options.order = arguments.order == "seeded" ? DocumentOrder::Shuffled : DocumentOrder::Source;
    options.lengths = arguments.lengths;
    ScanResult result;
    {
        ProgressBar bar(options.maxTokens ? "scanning, tokens" : "scanning, files",
                        options.maxTokens ? options.maxTokens : options.maxFiles);
        options.progress = [&](std::int64_t files, std::int64_t tokens) {
            bar.show(options.maxTokens ? tokens : files);
        };
        result = scanText(options);
    }
    if (arguments.json)
        printAnswer(answerJson(options, result));
    else
        printResult(options, result);
    if (result.documents == 0)
        printNotice(options.directory.string() + ": no text, so 0 documents");
    return kDone;
}

}  // namespace

void addScanCommand(Program& program) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command =
        program.app.add_subcommand("scan", "text files of a folder -> Megatron .bin and .idx");
    ScanOptions& options = arguments->options;
    const CLI::Range positive(std::int64_t{1}, std::numeric_limits<std::int64_t>::max());
    command->add_option("folder", options.directory, "folder of text files")->required();
    command->add_option("--out", options.prefix, "writes PREFIX.bin, PREFIX.idx and PREFIX.files")
        ->required();
    command->add_option("--max-files", options.maxFiles, "text files to take")->check(positive);
    command
        ->add_option("--max-tokens", options.maxTokens,
                     "takes documents until they hold this many tokens; the last one whole")
        ->check(positive);
    command
        ->add_option("--window", options.window,
                     "only documents of at most this many tokens count toward --max-tokens")
        ->check(positive);
    command->add_option("--order", arguments->order, "path or seeded (default path)")
        ->check(CLI::IsMember({"path", "seeded"}));
    command->add_option("--seed", options.seed, "of the seeded order and of a preset (default 1)");
    command
        ->add_option("--lengths", arguments->lengths,
                     "cut the joined bytes into documents of this source's lengths")
        ->expected(1);
    command->add_flag("--json", arguments->json, "one JSON document on stdout");
    command->callback([&program, arguments] { program.action = [arguments] { return scan(*arguments); }; });
}

}  // namespace ballast::cli

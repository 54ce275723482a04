// SPDX-License-Identifier: Apache-2.0
// Replays a seed corpus through a fuzz entry, then some hundred mutations of each seed; the same ones every
// time. A crash, a hang or an exception other than the entry allows is the failure.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/base/random.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr int kMutationsPerSeed = 400;
constexpr int kChangesPerMutation = 3;

Bytes readBytes(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void overwriteNumber(Bytes& bytes, ballast::Random& random) {
    constexpr std::uint64_t kNumbers[] = {0,
                                          1,
                                          0x7F,
                                          0xFF,
                                          0x7FFFFFFF,
                                          0x80000000,
                                          0xFFFFFFFF,
                                          std::uint64_t{1} << 40,
                                          std::uint64_t{1} << 62,
                                          std::uint64_t{1} << 63,
                                          ~std::uint64_t{0}};
    const std::uint64_t number = kNumbers[random.below(std::size(kNumbers))];
    const std::size_t width = std::min<std::size_t>(std::size_t{1} << random.below(4), bytes.size());
    std::memcpy(bytes.data() + random.below(bytes.size() - width + 1), &number, width);
}

void change(Bytes& bytes, ballast::Random& random) {
    constexpr std::string_view kText = "0123456789-+.,:;\"\\{}[]\n\r\t eE#";
    const auto place = [&] { return static_cast<std::ptrdiff_t>(random.below(bytes.size() + 1)); };
    const std::uint64_t kind = bytes.empty() ? 3 : random.below(6);
    if (kind == 0) {
        bytes[random.below(bytes.size())] ^= static_cast<std::uint8_t>(1U << random.below(8));
    } else if (kind == 1) {
        bytes.resize(random.below(bytes.size()));
    } else if (kind == 2) {
        overwriteNumber(bytes, random);
    } else if (kind == 3) {
        bytes.insert(bytes.begin() + place(), static_cast<std::uint8_t>(kText[random.below(kText.size())]));
    } else if (kind == 4) {
        const std::ptrdiff_t from = place();
        const std::ptrdiff_t to = place();
        const Bytes block(bytes.begin() + std::min(from, to), bytes.begin() + std::max(from, to));
        bytes.insert(bytes.begin() + place(), block.begin(), block.end());
    } else {
        const std::ptrdiff_t from = place();
        const std::ptrdiff_t to = place();
        bytes.erase(bytes.begin() + std::min(from, to), bytes.begin() + std::max(from, to));
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s FOLDER-OF-SEEDS\n", argv[0]);
        return 2;
    }
    std::vector<std::filesystem::path> seeds;
    for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
        seeds.push_back(entry.path());
    std::sort(seeds.begin(), seeds.end());
    int inputs = 0;
    for (const std::filesystem::path& seed : seeds) {
        const Bytes whole = readBytes(seed);
        LLVMFuzzerTestOneInput(whole.data(), whole.size());
        ++inputs;
        ballast::Random random(static_cast<std::uint64_t>(inputs));
        for (int mutation = 0; mutation < kMutationsPerSeed; ++mutation, ++inputs) {
            Bytes mutant = whole;
            for (std::uint64_t changes = 1 + random.below(kChangesPerMutation); changes > 0; --changes)
                change(mutant, random);
            LLVMFuzzerTestOneInput(mutant.data(), mutant.size());
        }
    }
    std::printf("%d inputs from %zu seeds\n", inputs, seeds.size());
    return seeds.empty() ? 1 : 0;
}

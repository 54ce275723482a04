// SPDX-License-Identifier: Apache-2.0
#include "core/workload/text_reader.h"

#include "core/workload/listed_lengths.h"
#include "core/workload/text_source.h"

namespace ballast {

std::vector<std::int64_t> parseTextLengths(std::string_view text, std::string_view place) {
    LengthCollector lengths(place);
    text = withoutByteOrderMark(text);
    for (std::int64_t number = 1; !text.empty(); ++number) {
        const std::string_view line = trimmed(takeLine(text));
        if (!line.empty())
            lengths.addText(line, number, "length");
    }
    return lengths.take();
}

std::unique_ptr<LengthSource> openText(const std::filesystem::path& file) {
    const TextSource mapped(file);
    return std::make_unique<ListedLengths>(file.string(), parseTextLengths(mapped.text(), file.string()));
}

}  // namespace ballast

// SPDX-License-Identifier: Apache-2.0
#include <span>

#include "core/workload/idx_reader.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return ballast::readOrRefuse([&] {
        const ballast::IdxTable table(std::as_bytes(std::span(data, size)), "input.idx");
        std::int64_t tokens = 0;
        for (std::int64_t document = 0; document < table.documents(); ++document)
            tokens += table.documentLength(document);
        if (tokens < 0 || tokens > table.binBytes())
            std::abort();
    });
}

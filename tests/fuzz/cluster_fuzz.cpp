// SPDX-License-Identifier: Apache-2.0
#include "core/job/cluster_spec.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return ballast::readOrRefuse(
        [&] { ballast::parseClusterSpec(ballast::asText(data, size), "cluster.json"); });
}

// SPDX-License-Identifier: Apache-2.0
#include "core/reproduce/published_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "core/base/error.h"
#include "core/base/nearest.h"
#include "core/reproduce/reproductions.h"

namespace ballast {
namespace {

struct Reproduction {
    std::string_view name;
    PublishedTable (*rebuild)(std::int64_t steps);
};
constexpr std::array<Reproduction, 5> kReproductions = {{{"table2", reproducePackingBalance},
                                                         {"figure12", reproduceEndToEndSpeedUp},
                                                         {"figure13", reproduceBreakdown},
                                                         {"figure14", reproduceWindowSweep},
                                                         {"figure15", reproduceContextParallelism}}};

}  // namespace

std::vector<std::string_view> reproductionNames() {
    std::vector<std::string_view> names;
    for (const Reproduction& reproduction : kReproductions)
        names.push_back(reproduction.name);
    return names;
}

PublishedTable reproduce(std::string_view name, std::int64_t steps) {
    for (const Reproduction& reproduction : kReproductions)
        if (reproduction.name == name)
            return reproduction.rebuild(steps);
    throw Error(fmt::format("reproduce: \"{}\": expected one of {}; the nearest is \"{}\"", name,
                            fmt::join(reproductionNames(), ", "), nearest(name, reproductionNames())));
}

}  // namespace ballast

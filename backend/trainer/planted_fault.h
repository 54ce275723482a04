// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ballast::backend {

/// Mistakes that the equivalence suite must notice, in comm/process_groups.cpp and
/// trainer/micro_batch_input.cpp. They exist only where the tests compile those two with
/// BALLAST_PLANTED_FAULTS; in the product `planted` is a constant false and the compiler drops them.
enum class PlantedFault {
    None,
    KeyAcrossBorder,            ///< each document's tokens also see the last key of the document before
    PositionsBreakInsidePiece,  ///< positions start anew at each slice instead of each piece
    LastTargetOfSliceDropped,   ///< a context-parallel slice forgets the target that lies on another rank
    GradientsOverDataOnly,      ///< gradients are summed over dp and not over dp x cp
};

#ifdef BALLAST_PLANTED_FAULTS
/// Set before the ranks start and left alone while they run.
inline PlantedFault plantedFault = PlantedFault::None;
inline bool planted(PlantedFault fault) {
    return plantedFault == fault;
}
#else
constexpr bool planted(PlantedFault) {
    return false;
}
#endif

}  // namespace ballast::backend

// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/loops_of_width.h"

namespace ballast::kernels {

extern const Loops kBaselineLoops;
constexpr Loops kBaselineLoops = loopsOfWidth<4>("baseline");

}  // namespace ballast::kernels

// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/loops_of_width.h"

namespace ballast::kernels {

extern const Loops kAvx2Loops;
constexpr Loops kAvx2Loops = loopsOfWidth<8>("AVX2");

}  // namespace ballast::kernels

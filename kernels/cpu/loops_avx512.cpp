// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/loops_of_width.h"

namespace ballast::kernels {

extern const Loops kAvx512Loops;
constexpr Loops kAvx512Loops = loopsOfWidth<16>("AVX-512");

}  // namespace ballast::kernels

// SPDX-License-Identifier: Apache-2.0
#include "kernels/add.h"

#include "kernels/check.h"
#include "kernels/cpu/loops.h"

namespace ballast::kernels {

void addTo(std::span<float> sum, std::span<const float> term) {
    check(sum.size() == term.size(), "addTo: sizes");
    loops().add(sum.data(), term.data(), std::ssize(sum));
}

}  // namespace ballast::kernels

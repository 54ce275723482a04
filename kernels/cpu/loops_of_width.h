// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cpu/attention_backward_loop.h"
#include "kernels/cpu/attention_forward_loop.h"
#include "kernels/cpu/loops.h"
#include "kernels/cpu/row_loops.h"

namespace ballast::kernels {

/// The table of all loops for registers of kWidth floats, compiled for the calling file's instruction set.
template <int kWidth>
constexpr Loops loopsOfWidth(const char* name) {
    return {name,
            attentionForwardLoop<kWidth>,
            attentionBackwardLoop<kWidth>,
            swigluForwardLoop<kWidth>,
            swigluBackwardLoop<kWidth>,
            maximumLoop<kWidth>,
            sumOfExpLoop<kWidth>,
            scaledExpLoop<kWidth>,
            sumOfProductsLoop<kWidth>,
            sumOfSquaresLoop<kWidth>,
            rmsNormRowLoop<kWidth>,
            rmsNormBackwardRowLoop<kWidth>,
            rotateLoop<kWidth>,
            addLoop<kWidth>,
            adamwLoop<kWidth>};
}

}  // namespace ballast::kernels

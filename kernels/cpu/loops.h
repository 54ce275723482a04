// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cpu/attention_loops.h"

namespace ballast::kernels {

/// The inner loops that gain from wide registers, once for each instruction set. Pointers and counts only;
/// the public functions check sizes before they call them.
struct Loops {
    const char* name;
    void (*attentionForward)(const AttentionTask& task);
    void (*attentionBackward)(const AttentionTask& task);
    void (*swigluForward)(const float* gate, const float* up, float* out, std::int64_t count);
    void (*swigluBackward)(const float* gate, const float* up, const float* outGradient, float* gateGradient,
                           float* upGradient, std::int64_t count);
    float (*maximum)(const float* values, std::int64_t count);
    /// sum of exp(value - shift)
    float (*sumOfExp)(const float* values, std::int64_t count, float shift);
    /// value = factor * exp(value - shift)
    void (*scaledExp)(float* values, std::int64_t count, float shift, float factor);
    /// sum of a*b*c; b or c may be null for 1
    float (*sumOfProducts)(const float* a, const float* b, const float* c, std::int64_t count);
    double (*sumOfSquares)(const float* values, std::int64_t count);
    void (*rmsNormRow)(const float* in, const float* weight, float* out, std::int64_t count,
                       float inverseRms);
    /// inGradient += weight*outGradient*inverseRms - in*pull; weightGradient += in*outGradient*inverseRms
    void (*rmsNormBackwardRow)(const float* in, const float* weight, const float* outGradient,
                               float* inGradient, float* weightGradient, std::int64_t count, float inverseRms,
                               float pull);
    /// rotates the pairs (low[i], high[i])
    void (*rotate)(const float* cosine, const float* sine, float* low, float* high, std::int64_t count,
                   float sign);
    void (*add)(float* sum, const float* term, std::int64_t count);
    /// factors: gradientScale, beta1, 1-beta1, beta2, 1-beta2, rate/correction1, 1/sqrt(correction2),
    /// epsilon, 1-rate*decay
    void (*adamw)(const float* factors, const float* gradients, float* weights, float* firstMoment,
                  float* secondMoment, std::int64_t count);
};

/// The loops of the widest instruction set that this processor runs.
const Loops& loops();

/// Every set of loops that this processor runs, widest first.
struct LoopsList {
    const Loops* sets[3];
    int count;
};
LoopsList runnableLoops();

/// Makes loops() return `set` from now on, so that tests hold every instruction set to the same reference.
void useLoops(const Loops& set);

}  // namespace ballast::kernels

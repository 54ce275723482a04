// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ballast::kernels {

/// Once a process: one BLAS thread, and matrix kernels that suit the processor. An OpenBLAS older than its
/// processor falls back to kernels of 2004 (SSE3), four times slower than what the machine can do (seen with
/// 0.3.21 on a Xeon of 2023); then it is told to use those of the instruction set that the processor reports.
/// OPENBLAS_CORETYPE, where someone set it, stands. Thread-safe; every matrix product calls it first.
void setUpBlas();

}  // namespace ballast::kernels

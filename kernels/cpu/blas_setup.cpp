// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/blas_setup.h"

#include <cblas.h>

#include <cstdlib>
#include <mutex>
#include <string_view>

#include "kernels/cpu/loops.h"

#if defined(__x86_64__)
// What OpenBLAS itself runs at load time to choose its kernels; exported by its builds for many processors
// only.
extern "C" {
[[gnu::weak]] void gotoblas_dynamic_init(void);
[[gnu::weak]] void gotoblas_dynamic_quit(void);
}
#endif

namespace ballast::kernels {
namespace {

constexpr const char* kCoreVariable = "OPENBLAS_CORETYPE";

/// The kernels that OpenBLAS takes for processors it does not know.
bool isFallback(std::string_view core) {
    return core == "Prescott" || core == "Nehalem" || core == "Sandybridge";
}

void chooseKernels() {
#if defined(__x86_64__)
    const LoopsList list = runnableLoops();
    if (gotoblas_dynamic_init == nullptr || gotoblas_dynamic_quit == nullptr || list.count < 2 ||
        std::getenv(kCoreVariable) != nullptr || !isFallback(openblas_get_corename())) {
        return;
    }
    const bool widest = std::string_view(list.sets[0]->name) == "AVX-512";
    setenv(kCoreVariable, widest ? "SkylakeX" : "Haswell", 1);
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
    unsetenv(kCoreVariable);
#endif
}

}  // namespace

void setUpBlas() {
    static std::once_flag once;
    std::call_once(once, [] {
        chooseKernels();
        openblas_set_num_threads(1);
    });
}

}  // namespace ballast::kernels

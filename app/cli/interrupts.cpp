// SPDX-License-Identifier: Apache-2.0
#include "app/cli/interrupts.h"

#include <csignal>
#include <initializer_list>

namespace ballast::cli {

namespace {

volatile std::sig_atomic_t interruptCount = 0;
volatile std::sig_atomic_t leaving = 0;

void onInterrupt(int) {
    interruptCount = interruptCount + 1;
}

void onLeave(int) {
    leaving = 1;
}

}  // namespace

Interrupts::Interrupts() {
    interruptCount = 0;
    leaving = 0;
    std::signal(SIGINT, onInterrupt);
    std::signal(SIGHUP, onLeave);
    std::signal(SIGTERM, onLeave);
    std::signal(SIGPIPE, SIG_IGN);  // a closed terminal must not end the follower in the middle of a line
}

Interrupts::~Interrupts() {
    for (const int signal : {SIGINT, SIGHUP, SIGTERM, SIGPIPE})
        std::signal(signal, SIG_DFL);
}

int Interrupts::count() const {
    return interruptCount;
}

bool Interrupts::shouldLeave() const {
    return leaving != 0;
}

}  // namespace ballast::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <string>

#include "app/cli/commands.h"
#include "core/base/error.h"

namespace ballast::cli {

void addUnbuiltCommands(Program& program) {
    for (const std::string name : {"tune", "calibrate", "import", "export"}) {
        CLI::App* command = program.app.add_subcommand(name, "not built yet");
        command->group("");
        command->set_help_flag();
        command->prefix_command();
        command->callback([&program, name] {
            program.action = [name]() -> int {
                const std::string instead =
                    name == "calibrate" ? "; ballast-calibrate --this-machine measures this machine" : "";
                throw Error(fmt::format("ballast {} is not built yet{}", name, instead));
            };
        });
    }
}

}  // namespace ballast::cli

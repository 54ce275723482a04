// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/program.h"

namespace ballast::cli {

/// One function a command, in the order of formats.md; each is defined in <command>_command.cpp.
void addScanCommand(Program& program);
void addLengthsCommand(Program& program);
void addScenarioCommand(Program& program);
void addPackCommand(Program& program);
void addShardCommand(Program& program);
void addSimulateCommand(Program& program);
void addPlanCommand(Program& program);
void addRunCommand(Program& program);
void addRunsCommand(Program& program);
void addCompareCommand(Program& program);
/// Not in formats.md: published tables and figures beside predictions of them.
void addReproduceCommand(Program& program);
void addDoctorCommand(Program& program);
/// Hidden: what `run` starts to supervise the ranks.
void addRunnerCommand(Program& program);
/// Named in formats.md, refused by name.
void addUnbuiltCommands(Program& program);

}  // namespace ballast::cli

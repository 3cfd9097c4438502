#include "kernevo/cli/blind.h"

#include "kernevo/cli/command_line.h"

namespace kernevo::cli {

void add_blind(CommandLine& command, bool& blind) {
  command.add_flag("--blind", blind, kBlindHelp);
}

} // namespace kernevo::cli

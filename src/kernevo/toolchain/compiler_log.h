#pragma once

#include "kernevo/model/build.h"
#include "kernevo/toolchain/toolchain.h"

#include <string_view>
#include <vector>

namespace kernevo {

struct CompilerLog {
  std::vector<Diagnostic> diagnostics;
  bool syntax_error = false; // the first error is one of grammar, not of meaning
};

// Reads the messages of NVRTC or nvcc. Echoed source lines are used for the column and dropped;
// what is said about other files is kept only for headers of the toolkit.
CompilerLog read_compiler_log(std::string_view log, const CompileRequest& request,
                              const Toolchain& toolchain);

} // namespace kernevo

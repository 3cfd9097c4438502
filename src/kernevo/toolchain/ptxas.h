#pragma once

#include "kernevo/model/build.h"
#include "kernevo/toolchain/toolchain.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

// The resources of every kernel, from what ptxas -v prints.
std::vector<KernelResources> read_ptxas_log(std::string_view log);

// "ptxas 13.2.86", asked once.
std::string ptxas_version(const Toolchain& toolchain);

// Assembles the build's PTX and records what ptxas says. Errors of the PTX (inline assembly, an
// unresolved function) make the build not ok; trouble with ptxas itself is a warning, and the
// resources stay unknown. Returns whether the outcome is worth keeping in the cache.
bool assemble(const Toolchain& toolchain, const CompileRequest& request, Build& build,
              std::string& cubin);

} // namespace kernevo

// PTX -> cubin by ptxas in a cage, kept by content with what ptxas said of each kernel.
#pragma once

#include "kernevo/base/subprocess.h"
#include "kernevo/base/temporary_folder.h"
#include "kernevo/toolchain/assembled.h"

#include <string>
#include <vector>

namespace kernevo {

// What a tool of the toolkit wrote that did its work in `folder`, in a cage. PTX that ptxas refuses
// is an input error with its line.
Result<SubprocessResult> run_tool(const Toolchain& toolchain, const TemporaryFolder& folder,
                                  std::vector<std::string> arguments, const char* name);

// The cubin, from ptxas where it is not known already.
Result<std::string> assemble_text(const Toolchain& toolchain, const AssemblyRequest& request);

// Of every kernel that is assembled; the cubin is kept as well.
Result<std::vector<KernelResources>> assembled_resources(const Toolchain& toolchain,
                                                         const AssemblyRequest& request);

} // namespace kernevo

#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/build.h"
#include "kernevo/toolchain/toolchain.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

enum class CompilerKind { nvrtc, nvcc };

// The source as the compiler sees it: what it uses but does not include, a #line that keeps the
// user's own file and lines, then the source.
std::string add_prelude(const CompileRequest& request, CompilerKind compiler);

// The toolkit's headers a source uses without including them, as #include lines.
std::string missing_includes(std::string_view source);

// What NVRTC is told of the macros of <math.h>, <float.h> and <limits.h> a source uses, as #define
// lines.
std::string library_macros(std::string_view source);

// Includes a kernel file may not have: absolute paths, "..", computed names, files that are not
// the toolkit's. One diagnostic each; empty when all is well.
std::vector<Diagnostic> refused_includes(const CompileRequest& request, const Toolchain& toolchain);

// The folders the toolkit's headers are in.
std::vector<std::filesystem::path> include_folders(const Toolchain& toolchain);

} // namespace kernevo

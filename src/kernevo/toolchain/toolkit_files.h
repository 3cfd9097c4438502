// Which files a compilation may read, and what they are: the cage of the compiler and the key of
// the build cache are made of the same list, so that nothing can be read that the key does not
// cover.
#pragma once

#include "kernevo/base/file_cage.h"
#include "kernevo/toolchain/toolchain.h"

#include <string>

namespace kernevo {

// Headers, libraries and programs of the toolkit, the system's libraries and this one folder to
// write to. nvcc needs the host compiler and its headers as well.
FileAccess compiler_access(const Toolchain& toolchain, bool nvcc,
                           const std::filesystem::path& folder);

// A hash over path, size and times of every file of the toolkit (for nvcc of the host's headers,
// too) that can change what a compilation gives.
std::string read_toolkit_identity(const Toolchain& toolchain, bool nvcc);
// The same, looked at once per process: thousands of files take some milliseconds.
std::string toolkit_identity(const Toolchain& toolchain, bool nvcc);

} // namespace kernevo

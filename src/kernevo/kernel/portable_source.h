// Whether a kernel file can mean the same to whoever compiles it: the judge with NVRTC, the user of
// what is extracted with nvcc and a compiler for the host.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/kernel/source_scan.h"

#include <optional>
#include <string>

namespace kernevo {

// The first thing in CUDA code that asks which compiler it meets, that changes the words it is
// written in, or that asks the host's compiler or linker for something, as an input error with its
// place and what to do instead. The text must be plain (plain_text.h). docs/kernels.md lists what
// is refused.
std::optional<Error> find_unportable(const SourceScan& scan, const std::string& file,
                                     int first_line = 1);

// Macros that mean the same to every compiler of a kernel file, so that conditions may use them.
bool is_portable_macro(std::string_view name);

} // namespace kernevo

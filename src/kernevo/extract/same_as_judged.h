// The proof that what is extracted is what was judged.
#pragma once

#include "kernevo/extract/extraction.h"
#include "kernevo/model/build.h"
#include "kernevo/toolchain/toolchain.h"

#include <functional>
#include <string>

namespace kernevo::extract {

using Compile = std::function<Result<Build>(const CompileRequest&)>; // of untrusted source

// Compiles what was judged and the device code of what the forms cu and torch write, the latter
// with nvcc if the toolchain has it, and compares them. Returns how, in a line for the receipt.
// Other code than was judged is an input error.
Result<std::string> same_as_judged(const Extraction& extraction, const Toolchain& toolchain,
                                   const Compile& compile);

} // namespace kernevo::extract

// The Python in which programs on PyTorch and Triton run on the virtual GPU. What it is made of and
// whether it is whole is for python/environment.py to know; here is where it stands and how that
// script is called.
#pragma once

#include "kernevo/base/result.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kernevo {

// The command that makes it ("make") or says in a line of JSON how it is ("state").
Result<std::vector<std::string>> environment_command(const std::string& what);

// Its interpreter: $KERNEVO_PYTHON, else that of the environment 'kernevo setup python' made.
// Nothing where neither is.
std::optional<std::filesystem::path> environment_python();

// The folder of the package kernevo_judge, which runs programs to judge them.
Result<std::filesystem::path> python_sources();

} // namespace kernevo

// The GPUs of share/gpus. Each file is parsed once per process.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/gpu.h"

#include <string>
#include <vector>

namespace kernevo {

// Every GPU in share/gpus, sorted by name.
Result<std::vector<Gpu>> load_gpus();
// The same, read once and kept for messages, also in a process that has closed its files since.
// Empty when they cannot be read.
const std::vector<Gpu>& known_gpus();
// One of them by name or alias, case-insensitive; unknown names get a suggestion.
Result<Gpu> find_gpu(const std::string& name);

} // namespace kernevo

// The GPUs of share/gpus and those a user keeps (own_gpus.h), which stand for listed ones of the
// same name. Each file is parsed once per process.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/gpu.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kernevo {

// Every GPU, sorted by name.
Result<std::vector<Gpu>> load_gpus();
// Those a user keeps, by name, with their files.
Result<std::map<std::string, std::filesystem::path>> own_gpus();
// Every GPU, read once and kept for messages, also in a process that has closed its files since.
// Empty when they cannot be read.
const std::vector<Gpu>& known_gpus();
// One of them by name or alias, case-insensitive; unknown names get a suggestion.
Result<Gpu> find_gpu(const std::string& name);

} // namespace kernevo

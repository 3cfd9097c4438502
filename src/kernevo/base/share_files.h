// The data files of one kind: GPUs, architectures, rules.
#pragma once

#include "kernevo/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kernevo {

// Paths of the .yaml files in this folder of share/, sorted.
Result<std::vector<std::filesystem::path>> share_files(const std::string& folder);

// The same of any folder; the fix is for one that cannot be listed.
Result<std::vector<std::filesystem::path>> yaml_files(const std::filesystem::path& folder,
                                                      const std::string& fix);

} // namespace kernevo

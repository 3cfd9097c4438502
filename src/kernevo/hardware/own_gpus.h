// Where people keep files of GPUs that share/gpus does not list, or that are theirs.
#pragma once

#include "kernevo/base/result.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

// $KERNEVO_GPUS, else $XDG_CONFIG_HOME/kernevo/gpus, else ~/.config/kernevo/gpus; empty where none
// of them is known. Only the first must be there.
std::filesystem::path own_gpu_folder();

// Where tables are to be looked for, to be said at the beginning of a message to a worker, whose
// environment is empty; and the worker's side: how long that beginning was.
std::string table_places();
std::size_t use_table_places(std::string_view message);

// Its files, sorted; none where there is no such folder.
Result<std::vector<std::filesystem::path>> own_gpu_files();

} // namespace kernevo

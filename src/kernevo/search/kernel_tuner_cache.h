// The cache files of Kernel Tuner: JSON with a header (device, kernel, problem, parameters) and one
// entry per configuration.
#pragma once

#include "kernevo/search/recorded_space.h"

namespace kernevo::search {

// What a cache file must agree with before its times are believed.
struct CacheHeader {
  std::string device;
  std::string kernel;
  std::vector<std::int64_t> problem_size;
};

// The trials of a cache file that belong to this space. A file of another kernel, device, problem
// or other parameters is refused in one line; a file Kernel Tuner left open (it appends) is
// accepted.
Result<std::vector<Trial>> read_kernel_tuner_cache(const std::filesystem::path& path,
                                                   const CacheHeader& header,
                                                   const SearchSpace& space);
// Writes a closed cache file that Kernel Tuner can read, through a temporary file.
Result<void> write_kernel_tuner_cache(const std::filesystem::path& path, const CacheHeader& header,
                                      const SearchSpace& space, const std::vector<Trial>& trials);

// The text of a cache file as a space of its own, for replay.
Result<RecordedSpace> recorded_space_of(std::string_view text, const std::filesystem::path& path,
                                        std::string name);

} // namespace kernevo::search

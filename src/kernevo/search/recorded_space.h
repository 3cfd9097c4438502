// A space whose configurations were all measured before: searching it needs no device.
#pragma once

#include "kernevo/search/history.h"

#include <filesystem>

namespace kernevo::search {

struct RecordedSpace {
  std::string name;
  std::string device; // where the file says so
  SearchSpace space;
  std::vector<Trial> trials; // one per configuration, in the order of the space
  Nanoseconds best{};        // the shortest time
};

// Either a table or a Kernel Tuner cache file; both may be gzip. The table has tab-separated
// columns: the parameters, then `status` (ok or a kind of failure), `ms`, `compile_ms`, and then
// one per counter.
Result<RecordedSpace> load_recorded_space(const std::filesystem::path& path);

// From what either reader found. Parameters with a single value are dropped: there is nothing to
// search.
Result<RecordedSpace> make_recorded_space(std::string name, std::vector<Parameter> parameters,
                                          std::vector<std::vector<std::uint16_t>> rows,
                                          std::vector<Trial> trials);

} // namespace kernevo::search

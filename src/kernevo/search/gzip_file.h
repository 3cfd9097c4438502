#pragma once

#include "kernevo/base/result.h"

#include <filesystem>
#include <string>

namespace kernevo::search {

// The whole file, decompressed when it is gzip (by its first bytes, not its name). One that grows
// beyond the limit is refused.
Result<std::string> read_maybe_gzip(const std::filesystem::path& path,
                                    std::size_t limit = std::size_t{1} << 30U);

} // namespace kernevo::search

#include "kernevo/cuda/core/unpack.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

namespace kernevo::cuda {
namespace {

// The PTX of the largest libraries is a tenth of it.
constexpr std::uint64_t kMostBytes = std::uint64_t{512} << 20U;

// How many bytes came out, as far as the packed ones go; none when they are damaged.
std::size_t unpack_into(std::string& text, Packing packing, std::string_view packed) {
  if (packing == Packing::zstd) {
    const std::size_t made =
        ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
    return ZSTD_isError(made) != 0 ? 0 : made;
  }
  const int made = LZ4_decompress_safe(packed.data(), text.data(), static_cast<int>(packed.size()),
                                       static_cast<int>(text.size()));
  return made < 0 ? 0 : static_cast<std::size_t>(made);
}

} // namespace

Result<std::string> unpack(Packing packing, std::string_view packed, std::uint64_t bytes) {
  if (bytes == 0 || bytes > kMostBytes || packed.size() > kMostBytes)
    return fail(ErrorCode::input,
                fmt::format("the program's packed PTX claims {} bytes; 1 to {} are read", bytes,
                            kMostBytes));
  std::string text(bytes, '\0');
  if (unpack_into(text, packing, packed) != bytes)
    return fail(ErrorCode::input, "the program's packed PTX is damaged");
  return text;
}

} // namespace kernevo::cuda

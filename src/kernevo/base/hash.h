#pragma once

#include <string>
#include <string_view>

namespace kernevo {

// SHA-256 of the bytes, as 64 lower-case hexadecimal digits. Content ids everywhere are this.
std::string sha256_hex(std::string_view bytes);

} // namespace kernevo

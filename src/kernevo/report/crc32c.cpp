#include "kernevo/report/crc32c.h"

#include <array>

namespace kernevo::report {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78; // bits reversed

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit)
      sum = (sum >> 1U) ^ ((sum & 1U) != 0 ? kPolynomial : 0U);
    table.at(byte) = sum;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kTable = make_table();

} // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t sum = 0xFFFFFFFF;
  for (const char c : bytes)
    sum = (sum >> 8U) ^ kTable.at((sum ^ static_cast<unsigned char>(c)) & 0xFFU);
  return sum ^ 0xFFFFFFFF;
}

std::uint32_t masked_crc32c(std::string_view bytes) {
  const std::uint32_t sum = crc32c(bytes);
  return ((sum >> 15U) | (sum << 17U)) + 0xA282EAD8U;
}

} // namespace kernevo::report

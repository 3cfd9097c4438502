// An own reader of event files, written from the public description of the two formats (TFRecord,
// protocol buffers) and not from the writer: bit by bit sums, fields by number.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::report::reader {

inline std::uint32_t sum_of(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc & 1U) != 0 ? (crc >> 1U) ^ 0x82F63B78U : crc >> 1U;
  }
  return ~crc;
}

// Undoes the mask of a stored sum.
inline std::uint32_t unmasked(std::uint32_t stored) {
  const std::uint32_t rotated = stored - 0xA282EAD8U;
  return (rotated >> 17U) | (rotated << 15U);
}

inline std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i)
    value = value * 256 + static_cast<unsigned char>(bytes[i - 1]);
  return value;
}

inline std::vector<std::string> records(std::string_view file) {
  std::vector<std::string> out;
  while (!file.empty()) {
    if (file.size() < 12)
      throw std::runtime_error("a record's head is cut");
    const std::uint64_t length = little_endian(file.substr(0, 8));
    if (unmasked(static_cast<std::uint32_t>(little_endian(file.substr(8, 4)))) !=
        sum_of(file.substr(0, 8)))
      throw std::runtime_error("the sum of a length is wrong");
    if (file.size() < 16 + length)
      throw std::runtime_error("a record is cut");
    const std::string_view body = file.substr(12, length);
    if (unmasked(static_cast<std::uint32_t>(little_endian(file.substr(12 + length, 4)))) !=
        sum_of(body))
      throw std::runtime_error("the sum of a record is wrong");
    out.emplace_back(body);
    file.remove_prefix(16 + length);
  }
  return out;
}

struct Field {
  std::uint64_t number = 0; // of varints and fixed
  std::string bytes;
};
using Message = std::multimap<unsigned, Field>;

inline std::uint64_t varint(std::string_view& text) {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    if (text.empty() || shift > 63)
      throw std::runtime_error("a number is cut");
    const auto byte = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80)
      return value;
  }
}

inline Message parse(std::string_view text) {
  Message message;
  while (!text.empty()) {
    const std::uint64_t key = varint(text);
    Field field;
    std::size_t size = 0;
    switch (key & 7U) {
    case 0: field.number = varint(text); break;
    case 1: size = 8; break;
    case 2: size = varint(text); break;
    case 5: size = 4; break;
    default: throw std::runtime_error("an unknown wire type");
    }
    if (size > text.size())
      throw std::runtime_error("a field is cut");
    field.bytes = text.substr(0, size);
    if ((key & 7U) != 0 && (key & 7U) != 2)
      field.number = little_endian(field.bytes);
    text.remove_prefix(size);
    message.emplace(static_cast<unsigned>(key >> 3U), field);
  }
  return message;
}

struct Event {
  double wall = 0;
  std::int64_t step = 0;
  std::string version;
  std::vector<std::pair<std::string, float>> scalars;
};

inline Event event_of(const std::string& record) {
  Event event;
  for (const auto& [number, field] : parse(record)) {
    if (number == 1)
      event.wall = std::bit_cast<double>(field.number);
    else if (number == 2)
      event.step = static_cast<std::int64_t>(field.number);
    else if (number == 3)
      event.version = field.bytes;
    else if (number == 5)
      for (const auto& [part, value] : parse(field.bytes)) {
        const Message one = parse(value.bytes);
        event.scalars.emplace_back(
            one.find(1)->second.bytes,
            std::bit_cast<float>(static_cast<std::uint32_t>(one.find(2)->second.number)));
      }
  }
  return event;
}

inline std::vector<Event> events(std::string_view file) {
  std::vector<Event> out;
  for (const std::string& record : records(file))
    out.push_back(event_of(record));
  return out;
}

} // namespace kernevo::report::reader

#include "kernevo/report/event_file.h"

#include "kernevo/report/crc32c.h"

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace kernevo::report {
namespace {

// --- the wire format of protocol buffers, as far as events need it

constexpr unsigned kVarint = 0;
constexpr unsigned kFixed64 = 1;
constexpr unsigned kLengthDelimited = 2;
constexpr unsigned kFixed32 = 5;

// message Event
constexpr unsigned kEventWallTime = 1;
constexpr unsigned kEventStep = 2;
constexpr unsigned kEventFileVersion = 3;
constexpr unsigned kEventSummary = 5;
// message Summary, Summary.Value
constexpr unsigned kSummaryValue = 1;
constexpr unsigned kValueTag = 1;
constexpr unsigned kValueSimple = 2;

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U)
    out += static_cast<char>((value & 0x7FU) | 0x80U);
  out += static_cast<char>(value);
}

template <class T> void put_little_endian(std::string& out, T value) {
  for (unsigned byte = 0; byte < sizeof(T); ++byte)
    out += static_cast<char>((value >> (8U * byte)) & 0xFFU);
}

void put_key(std::string& out, unsigned field, unsigned wire) {
  put_varint(out, (field << 3U) | wire);
}

void put_bytes(std::string& out, unsigned field, std::string_view bytes) {
  put_key(out, field, kLengthDelimited);
  put_varint(out, bytes.size());
  out += bytes;
}

void put_double(std::string& out, unsigned field, double value) {
  put_key(out, field, kFixed64);
  put_little_endian(out, std::bit_cast<std::uint64_t>(value));
}

void put_float(std::string& out, unsigned field, float value) {
  put_key(out, field, kFixed32);
  put_little_endian(out, std::bit_cast<std::uint32_t>(value));
}

} // namespace

std::string framed_record(std::string_view bytes) {
  std::string out;
  put_little_endian(out, static_cast<std::uint64_t>(bytes.size()));
  put_little_endian(out, masked_crc32c(out));
  out += bytes;
  put_little_endian(out, masked_crc32c(bytes));
  return out;
}

std::string version_event(double wall_seconds) {
  std::string event;
  put_double(event, kEventWallTime, wall_seconds);
  put_bytes(event, kEventFileVersion, "brain.Event:2");
  return event;
}

std::string scalar_event(double wall_seconds, std::int64_t step,
                         const std::vector<Scalar>& scalars) {
  std::string summary;
  for (const Scalar& scalar : scalars) {
    std::string value;
    put_bytes(value, kValueTag, scalar.tag);
    put_float(value, kValueSimple, static_cast<float>(scalar.value));
    put_bytes(summary, kSummaryValue, value);
  }
  std::string event;
  put_double(event, kEventWallTime, wall_seconds);
  put_key(event, kEventStep, kVarint);
  put_varint(event, static_cast<std::uint64_t>(step));
  put_bytes(event, kEventSummary, summary);
  return event;
}

namespace {

tl::unexpected<Error> trouble(const std::filesystem::path& path, const char* what) {
  return fail(ErrorCode::infrastructure,
              fmt::format("cannot {} the file: {}", what, std::strerror(errno)),
              Place{path.string()}, "check free space and permissions");
}

} // namespace

Result<EventFile> EventFile::create(const std::filesystem::path& path, double wall_seconds) {
  std::error_code problem;
  if (path.has_parent_path())
    std::filesystem::create_directories(path.parent_path(), problem);
  if (problem)
    return fail(ErrorCode::infrastructure, "cannot be made: " + problem.message(),
                Place{path.parent_path().string()}, "name a folder you may write");
  std::FILE* stream = std::fopen(path.c_str(), "wbe");
  if (stream == nullptr)
    return trouble(path, "create");
  EventFile file(path, stream);
  KERNEVO_CHECK(file.put(version_event(wall_seconds)));
  KERNEVO_CHECK(file.flush());
  return file;
}

EventFile::EventFile(EventFile&& other) noexcept
    : path_(std::move(other.path_)), stream_(std::exchange(other.stream_, nullptr)) {}

EventFile::~EventFile() {
  if (stream_ != nullptr)
    std::fclose(stream_); // NOLINT(cert-err33-c): flush() has told of trouble
}

Result<void> EventFile::put(std::string_view bytes) {
  const std::string record = framed_record(bytes);
  if (std::fwrite(record.data(), 1, record.size(), stream_) != record.size())
    return trouble(path_, "write");
  return {};
}

Result<void> EventFile::write(double wall_seconds, std::int64_t step,
                              const std::vector<Scalar>& scalars) {
  return scalars.empty() ? Result<void>() : put(scalar_event(wall_seconds, step, scalars));
}

Result<void> EventFile::flush() {
  return std::fflush(stream_) == 0 ? Result<void>() : trouble(path_, "write");
}

} // namespace kernevo::report

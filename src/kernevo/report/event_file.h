// Files TensorBoard reads: records with sums (TFRecord), each a protocol buffer (Event) with the
// scalars of one moment.
#pragma once

#include "kernevo/base/result.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::report {

struct Scalar {
  std::string tag;
  double value = 0;

  bool operator==(const Scalar&) const = default;
};

// One record: length, its sum, the bytes, their sum.
std::string framed_record(std::string_view bytes);
// The first record of every file.
std::string version_event(double wall_seconds);
std::string scalar_event(double wall_seconds, std::int64_t step,
                         const std::vector<Scalar>& scalars);

class EventFile {
public:
  // A new file with its first record. The folder is made when it is not there.
  static Result<EventFile> create(const std::filesystem::path& path, double wall_seconds);
  EventFile(EventFile&& other) noexcept;
  EventFile& operator=(EventFile&&) = delete;
  ~EventFile();

  Result<void> write(double wall_seconds, std::int64_t step, const std::vector<Scalar>& scalars);
  // What was written reaches the file, for those who watch it.
  Result<void> flush();

private:
  EventFile(std::filesystem::path path, std::FILE* stream)
      : path_(std::move(path)), stream_(stream) {}
  Result<void> put(std::string_view record);

  std::filesystem::path path_;
  std::FILE* stream_;
};

} // namespace kernevo::report

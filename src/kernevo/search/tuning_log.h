// The record of a tuning run: a file of lines that only grows. It is the run's memory (nothing is
// measured twice) and what a stopped run resumes from.
#pragma once

#include "kernevo/search/history.h"

#include <filesystem>
#include <memory>

namespace kernevo::search {

// What a log must agree with before its trials are believed. Anything that changes the times
// belongs in `kernel` or `device`: a hash of the source, the flags, the shapes.
struct LogHeader {
  std::string kernel;
  std::string device;
  std::string strategy;
  std::uint64_t seed = 0;
};

class TuningLog {
public:
  // Starts a log, or opens an existing one of the same kernel, device and space; another one is
  // refused in one line and left as it is. The strategy and the seed may differ: trials are facts.
  // A last line that was cut short by a crash is dropped.
  static Result<TuningLog> open(const std::filesystem::path& path, const LogHeader& header,
                                const SearchSpace& space);

  TuningLog(TuningLog&&) noexcept = default;
  TuningLog& operator=(TuningLog&&) noexcept = default;

  // In the order they were told.
  const std::vector<Trial>& trials() const { return trials_; }
  // The trial of a configuration, if there was one.
  const Trial* find(Configuration configuration) const;
  // Written and flushed before it returns. Of two trials of a configuration the first stands, but
  // for one that was given up early or not checked and later was.
  Result<void> append(const Trial& trial);

private:
  struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  TuningLog() = default;
  void remember(Trial trial);
  Result<void> load(std::string_view text, const LogHeader& header, std::size_t& whole_bytes);

  const SearchSpace* space_ = nullptr;
  std::string path_;
  std::vector<Trial> trials_;
  std::map<Configuration, std::size_t> found_; // position in trials_
  std::unique_ptr<std::FILE, FileCloser> file_;
};

} // namespace kernevo::search

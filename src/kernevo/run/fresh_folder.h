// The folder of a run that is about to begin; it goes again if nothing comes of it.
#pragma once

#include <filesystem>
#include <vector>

namespace kernevo::run {

// Takes away what was made for a run that did not come to be: its files, and the folders that were
// not there before.
class FreshFolder {
public:
  explicit FreshFolder(const std::filesystem::path& folder);
  FreshFolder(const FreshFolder&) = delete;
  FreshFolder& operator=(const FreshFolder&) = delete;
  ~FreshFolder();
  void keep() { keep_ = true; }

private:
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> missing_; // innermost first
  bool had_run_ = false;
  bool had_traces_ = false;
  bool keep_ = false;
};

} // namespace kernevo::run

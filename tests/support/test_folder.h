// A folder of a test's own, gone with it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace kernevo {

class TestFolder {
public:
  TestFolder(); // named after the process and the running test
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string path(const std::string& name) const { return (path_ / name).string(); }
  // Makes folders on the way; returns the file's path.
  std::string write(const std::string& name, std::string_view content) const;

private:
  std::filesystem::path path_;
};

} // namespace kernevo

#include "test_folder.h"

#include <atomic>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace kernevo {
namespace {

// Names of parametrised tests have slashes.
std::string test_name() {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = test == nullptr ? "all" : test->name();
  for (char& c : name)
    if (c == '/')
      c = '-';
  return name;
}

} // namespace

TestFolder::TestFolder() {
  static std::atomic<int> made = 0;
  path_ = std::filesystem::temp_directory_path() /
          fmt::format("kernevo-test-{}-{}-{}", getpid(), ++made, test_name());
  std::filesystem::remove_all(path_);
  std::filesystem::create_directories(path_);
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TestFolder::write(const std::string& name, std::string_view content) const {
  const std::filesystem::path file = path_ / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << content;
  return file.string();
}

} // namespace kernevo

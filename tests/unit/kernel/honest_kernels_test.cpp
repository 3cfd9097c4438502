// No kernel of the examples and of the tests asks for what is refused, and all of them can be made
// ready for nvcc. Recipes are in tests/unit/propose.
#include "kernevo/base/files.h"
#include "kernevo/kernel/device_code.h"
#include "kernevo/kernel/judged_source.h"
#include "kernevo/kernel/plain_text.h"
#include "kernevo/kernel/portable_source.h"
#include "places.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> kernels_in(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(source_folder()) / folder))
    if (entry.path().extension() == ".cu")
      files.push_back(entry.path());
  return files;
}

TEST(HonestKernels, AreMadeReadyForNvcc) {
  std::size_t count = 0;
  for (const char* folder : {"examples", "tests/correctness/good"})
    for (const fs::path& path : kernels_in(folder)) {
      SCOPED_TRACE(path.string());
      ++count;
      const auto file = load_kernel_file(path.string());
      ASSERT_TRUE(file) << format_error(file.error());
      const auto parameters = choose_parameters(*file);
      ASSERT_TRUE(parameters) << format_error(parameters.error());
      const auto source = judged_source(*file, *parameters, file->architecture.value_or("sm_80"));
      ASSERT_TRUE(source) << format_error(source.error());
      const auto code = device_code(*source, file->path);
      ASSERT_TRUE(code) << format_error(code.error());
      for (const std::string& kernel : file->kernels)
        EXPECT_TRUE(code->kernels.contains(kernel)) << kernel;
    }
  EXPECT_GT(count, 100U);
}

// Wrong and hostile kernels are there to be judged, not to be turned away at the door.
TEST(HonestKernels, WrongOnesAreReadAsWell) {
  std::size_t count = 0;
  for (const char* folder : {"tests/correctness/bad", "tests/hostile/kernels"})
    for (const fs::path& path : kernels_in(folder)) {
      ++count;
      const auto text = read_text_file(path);
      ASSERT_TRUE(text);
      const auto unplain = find_unplain_text(*text, path.string());
      EXPECT_FALSE(unplain) << format_error(*unplain);
      const auto unportable = find_unportable(scan_cuda_source(*text), path.string());
      EXPECT_FALSE(unportable) << format_error(*unportable);
    }
  EXPECT_GT(count, 200U);
}

} // namespace
} // namespace kernevo

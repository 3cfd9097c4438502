#include "kernevo/device/model_fingerprint.h"

#include "kernevo/base/files.h"
#include "kernevo/base/hash.h"
#include "kernevo/base/share_files.h"
#include "kernevo/hardware/own_gpus.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace kernevo {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kDigits = 12;
constexpr std::uintmax_t kLargestProgram = std::uintmax_t{1} << 30U;

Result<std::string> work_out() {
  KERNEVO_TRY(folder, share_folder());
  KERNEVO_TRY(tables, hash_of_tables(folder));
  KERNEVO_TRY(own, own_gpu_files());
  for (const fs::path& file : own) {
    KERNEVO_TRY(content, read_text_file(file));
    tables += sha256_hex(content);
  }
  KERNEVO_TRY(program, read_text_file("/proc/self/exe", kLargestProgram));
  return sha256_hex(tables + sha256_hex(program)).substr(0, kDigits);
}

} // namespace

Result<std::string> hash_of_tables(const fs::path& share) {
  std::vector<fs::path> tables;
  std::error_code ignored;
  for (const char* kind : {"gpus", "architectures"})
    for (const auto& entry : fs::directory_iterator(share / kind, ignored))
      tables.push_back(entry.path());
  std::sort(tables.begin(), tables.end());
  std::string text;
  for (const fs::path& table : tables) {
    KERNEVO_TRY(content, read_text_file(table));
    text += fmt::format("{} {}\n{}", table.filename().string(), content.size(), content);
  }
  return sha256_hex(text);
}

Result<std::string> model_fingerprint() {
  static const Result<std::string> once = work_out();
  return once;
}

} // namespace kernevo

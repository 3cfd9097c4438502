#include "kernevo/programs/program_file.h"

#include "kernevo/base/files.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <unistd.h>

namespace kernevo {
namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t kLargestProgram = std::uintmax_t{4} << 30U;

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

// A record at a place of the file; nothing where the file ends before.
template <class T> std::optional<T> at(std::string_view file, std::uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T))
    return std::nullopt;
  T record;
  std::memcpy(&record, file.data() + offset, sizeof record);
  return record;
}

std::string text_at(std::string_view file, std::uint64_t offset) {
  if (offset >= file.size())
    return "";
  const std::string_view rest = file.substr(offset);
  return std::string(rest.substr(0, rest.find('\0')));
}

// Sections are what nvcc names its device code by, and where the dynamic section's names are.
void read_elf(std::string_view file, ProgramFile& program) {
  const auto head = at<Elf64_Ehdr>(file, 0);
  if (!head || head->e_ident[EI_CLASS] != ELFCLASS64)
    return;
  for (unsigned i = 0; i < head->e_phnum; ++i) {
    const auto part = at<Elf64_Phdr>(file, head->e_phoff + std::uint64_t{i} * head->e_phentsize);
    program.dynamic = program.dynamic || (part && part->p_type == PT_DYNAMIC);
  }
  const auto section = [&](std::uint64_t index) {
    return at<Elf64_Shdr>(file, head->e_shoff + index * head->e_shentsize);
  };
  const auto names = section(head->e_shstrndx);
  for (unsigned i = 0; names && i < head->e_shnum; ++i) {
    const auto one = section(i);
    if (!one)
      return;
    program.has_kernels =
        program.has_kernels || text_at(file, names->sh_offset + one->sh_name) == ".nv_fatbin";
    const auto strings = one->sh_type == SHT_DYNAMIC ? section(one->sh_link) : std::nullopt;
    for (std::uint64_t entry = 0; strings && entry + sizeof(Elf64_Dyn) <= one->sh_size;
         entry += sizeof(Elf64_Dyn)) {
      const auto item = at<Elf64_Dyn>(file, one->sh_offset + entry);
      if (!item || item->d_tag == DT_NULL)
        break;
      if (item->d_tag == DT_NEEDED)
        program.libraries.push_back(text_at(file, strings->sh_offset + item->d_un.d_val));
    }
  }
}

} // namespace

Result<ProgramFile> find_program_file(const std::string& name) {
  ProgramFile program;
  if (name.find('/') != std::string::npos) {
    program.path = name;
  } else if (const char* path = std::getenv("PATH")) {
    std::string_view rest = path;
    while (program.path.empty()) {
      const std::size_t end = rest.find(':');
      const fs::path candidate = fs::path(rest.substr(0, end)) / name;
      if (is_program(candidate))
        program.path = candidate;
      if (end == std::string_view::npos)
        break;
      rest.remove_prefix(end + 1);
    }
  }
  if (!is_program(program.path))
    return fail(ErrorCode::input, fmt::format("there is no program '{}'", name), std::nullopt,
                "give the program's path after '--'");
  const auto file = read_text_file(program.path, kLargestProgram);
  program.is_elf = file && file->starts_with(ELFMAG);
  if (program.is_elf)
    read_elf(*file, program);
  return program;
}

std::string why_not_served(const ProgramFile& program) {
  if (!program.has_kernels)
    return "";
  const bool shared = std::any_of(
      program.libraries.begin(), program.libraries.end(), [](const std::string& library) {
        return library.starts_with("libcudart.so") || library.starts_with("libkernevo_cuda");
      });
  if (program.dynamic && shared)
    return "";
  return fmt::format("'{}' has NVIDIA's runtime linked in, as nvcc does unless told otherwise, and "
                     "that works with NVIDIA's own driver alone",
                     program.path.string());
}

} // namespace kernevo

#include "kernevo/device/last_words.h"

#include "kernevo/base/printable.h"

#include <array>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kernevo {

LastWords::LastWords() : kept_(memfd_create("kernevo-last-words", MFD_CLOEXEC)) {}

void LastWords::keep_in(const FileDescriptor& attached) {
  if (attached.valid())
    dup2(attached.get(), STDERR_FILENO);
}

std::string LastWords::line() const {
  std::array<char, 1024> text{};
  struct stat about{};
  if (!kept_.valid() || fstat(kept_.get(), &about) != 0)
    return {};
  const auto size = static_cast<off_t>(text.size());
  const ssize_t got =
      pread(kept_.get(), text.data(), text.size(), about.st_size > size ? about.st_size - size : 0);
  if (got <= 0)
    return {};
  std::string said(text.data(), static_cast<std::size_t>(got));
  said.erase(said.find_last_not_of(" \n") + 1);
  return printable(said.substr(said.rfind('\n') + 1));
}

} // namespace kernevo

// Programs that have the driver will want its compilers. Some look for them by full path, in Python
// packages, but take one that is there already: so ours are, beside NVIDIA's that they open.
#include <dlfcn.h>
#include <filesystem>

namespace {

__attribute__((constructor)) void bring_stand_ins() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&bring_stand_ins), &here) == 0 || // NOLINT
      here.dli_fname == nullptr)
    return;
  const std::filesystem::path folder = std::filesystem::path(here.dli_fname).parent_path();
  for (const char* const name :
       {"libnvrtc.so.13", "libnvrtc.so.12", "libnvJitLink.so.13", "libnvJitLink.so.12"})
    dlopen((folder / name).c_str(), RTLD_LAZY | RTLD_LOCAL); // without them there is no harm
}

} // namespace

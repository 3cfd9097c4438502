// libnvJitLink in front of NVIDIA's: links PTX by keeping the modules together, for this library's
// loaders link them; what only NVIDIA's linker reads (LTO-IR) goes through it and comes out as PTX.
// What programs are given as machine code is PTX.
#include "kernevo/cuda/core/fatbin.h"
#include "kernevo/cuda/core/live.h"
#include "kernevo/cuda/nvrtc/true_library.h"
#include "kernevo/model/register_limit.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

// Numbers of nvJitLink.h.
enum Result : int { success = 0, missing_arch = 2, invalid_input = 3, internal = 6 };
enum Input : int { cubin = 1, ptx, ltoir, fatbin, object, library, index, any = 10 };

} // namespace

struct nvJitLink : kernevo::cuda::Live<nvJitLink> {
  struct Piece {
    int type = 0;
    std::string name;
    std::string bytes;
  };
  std::vector<std::string> options;
  std::vector<std::string> texts; // PTX
  std::vector<Piece> others;      // for NVIDIA's linker
  std::string result;
  std::string errors;
  std::string information;
};

namespace {

using Handle = nvJitLink*;

void* true_linker() {
  static void* const opened =
      kernevo::cuda::open_true_library("KERNEVO_NVJITLINK", {KERNEVO_TRUE_NVJITLINK});
  return opened;
}

template <class Function> Function* real(const char* name) {
  return true_linker() == nullptr
             ? nullptr
             : reinterpret_cast<Function*>(dlsym(true_linker(), name)); // NOLINT
}

bool is_ptx(const std::string& bytes) {
  return bytes.find(".version") != std::string::npos && bytes.find(".target") != std::string::npos;
}

Result refuse(Handle handle, const std::string& why) {
  handle->errors += "kernevo: " + why + "\n";
  return invalid_input;
}

// Text that a stand-in of ours made or the program wrote; false when it is neither.
bool add_text(Handle handle, const std::string& bytes) {
  auto texts = kernevo::cuda::ptx_of_image(bytes.c_str(), kernevo::cuda::kAnyGpu, bytes.size());
  if (!texts)
    return false;
  for (std::string& text : *texts) {
    if (!is_ptx(text))
      return false;
    handle->texts.push_back(std::move(text));
  }
  return true;
}

Result add(Handle handle, int type, const void* data, std::size_t size, const char* name) {
  if (!nvJitLink::has(handle) || data == nullptr || size == 0)
    return invalid_input;
  std::string bytes(static_cast<const char*>(data), size);
  const std::string what = name != nullptr ? name : "an input";
  switch (type) {
  case library: return success; // the device runtime is part of the virtual GPU
  case ptx:
  case cubin:
    if (add_text(handle, bytes))
      return success;
    return refuse(handle, what + (type == ptx ? " is no PTX"
                                              : " is machine code, which nothing here executes"));
  case any:
    if (add_text(handle, bytes))
      return success;
    if (bytes.starts_with("\x7f"
                          "ELF"))
      return refuse(handle, what + " is machine code, which nothing here executes");
    break;
  case fatbin:
  case object:
    if (add_text(handle, bytes))
      return success;
    break;
  default: break;
  }
  handle->others.push_back({type, what, std::move(bytes)});
  return success;
}

// The log of NVIDIA's linker becomes ours.
void take_log(std::string& log, void* linker, const char* size_name, const char* get_name) {
  auto* const size_of = real<int(void*, std::size_t*)>(size_name);
  auto* const get = real<int(void*, char*)>(get_name);
  std::size_t size = 0;
  if (size_of == nullptr || get == nullptr || size_of(linker, &size) != success || size <= 1)
    return;
  std::string text(size, '\0');
  if (get(linker, text.data()) == success)
    log += text.c_str();
}

int link_others(Handle handle) {
  auto* const create = real<int(void**, std::uint32_t, const char**)>("nvJitLinkCreate");
  auto* const add_data =
      real<int(void*, int, const void*, std::size_t, const char*)>("nvJitLinkAddData");
  auto* const complete = real<int(void*)>("nvJitLinkComplete");
  auto* const size_of = real<int(void*, std::size_t*)>("nvJitLinkGetLinkedPtxSize");
  auto* const get = real<int(void*, char*)>("nvJitLinkGetLinkedPtx");
  auto* const destroy = real<int(void**)>("nvJitLinkDestroy");
  if (create == nullptr || add_data == nullptr || complete == nullptr || size_of == nullptr ||
      get == nullptr || destroy == nullptr)
    return refuse(handle, "LTO-IR needs NVIDIA's nvJitLink (the package nvidia-nvjitlink)");
  std::vector<const char*> options = {"-lto", "-ptx"};
  for (const std::string& option : handle->options)
    if (option != "-lto" && option != "-dlto" && option != "-ptx")
      options.push_back(option.c_str());
  void* linker = nullptr;
  int result = create(&linker, static_cast<std::uint32_t>(options.size()), options.data());
  for (const auto& piece : handle->others)
    if (result == success)
      result =
          add_data(linker, piece.type, piece.bytes.data(), piece.bytes.size(), piece.name.c_str());
  if (result == success)
    result = complete(linker);
  std::size_t size = 0;
  if (result == success)
    result = size_of(linker, &size);
  if (result == success) {
    std::string text(size, '\0');
    result = get(linker, text.data());
    handle->texts.emplace_back(text.c_str());
  }
  if (linker != nullptr) {
    take_log(handle->errors, linker, "nvJitLinkGetErrorLogSize", "nvJitLinkGetErrorLog");
    take_log(handle->information, linker, "nvJitLinkGetInfoLogSize", "nvJitLinkGetInfoLog");
    destroy(&linker);
  }
  return result;
}

// 0: as many as the assembler likes.
int most_registers(const nvJitLink& linker) {
  constexpr std::string_view mark = "-maxrregcount=";
  for (const std::string& option : linker.options)
    if (option.starts_with(mark))
      return std::atoi(option.c_str() + mark.size());
  return 0;
}

int size_of_text(Handle handle, const std::string& text, std::size_t* size) {
  if (!nvJitLink::has(handle) || size == nullptr)
    return invalid_input;
  *size = text.size() + 1;
  return success;
}

int give_text(Handle handle, const std::string& text, void* to) {
  if (!nvJitLink::has(handle) || to == nullptr)
    return invalid_input;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return success;
}

} // namespace

extern "C" {

int nvJitLinkCreate(Handle* handle, std::uint32_t count, const char** options) {
  if (handle == nullptr || (options == nullptr && count != 0))
    return invalid_input;
  auto* const made = new nvJitLink();
  bool has_arch = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    made->options.emplace_back(options[i] != nullptr ? options[i] : "");
    const std::string& option = made->options.back();
    for (const char* const kind : {"-arch=sm_", "-arch=compute_", "-arch=lto_"})
      has_arch = has_arch || option.starts_with(kind);
  }
  *handle = made; // also without: its log says why
  if (!has_arch)
    made->errors = "kernevo: say what to link for, as in -arch=sm_80\n";
  return has_arch ? success : missing_arch;
}
int nvJitLinkDestroy(Handle* handle) {
  if (handle == nullptr || !nvJitLink::has(*handle))
    return invalid_input;
  delete *handle;
  *handle = nullptr;
  return success;
}
int nvJitLinkAddData(Handle handle, int type, const void* data, std::size_t size,
                     const char* name) {
  return add(handle, type, data, size, name);
}
int nvJitLinkAddFile(Handle handle, int type, const char* path) {
  if (!nvJitLink::has(handle) || path == nullptr)
    return invalid_input;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return refuse(handle, std::string(path) + " cannot be read");
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  return add(handle, type, bytes.data(), bytes.size(), path);
}
int nvJitLinkComplete(Handle handle) {
  if (!nvJitLink::has(handle))
    return invalid_input;
  if (!handle->others.empty())
    if (const int result = link_others(handle); result != success)
      return result;
  if (handle->texts.empty())
    return refuse(handle, "there is nothing to link");
  if (const int registers = most_registers(*handle); registers > 0)
    for (std::string& text : handle->texts)
      text = kernevo::with_register_limit(text, registers);
  handle->result = handle->texts.size() == 1 ? handle->texts.front()
                                             : kernevo::cuda::join_modules(handle->texts);
  return success;
}
int nvJitLinkGetLinkedCubinSize(Handle handle, std::size_t* size) {
  return !nvJitLink::has(handle) ? invalid_input : size_of_text(handle, handle->result, size);
}
int nvJitLinkGetLinkedCubin(Handle handle, void* to) {
  return !nvJitLink::has(handle) ? invalid_input : give_text(handle, handle->result, to);
}
int nvJitLinkGetLinkedPtxSize(Handle handle, std::size_t* size) {
  return nvJitLinkGetLinkedCubinSize(handle, size);
}
int nvJitLinkGetLinkedPtx(Handle handle, char* to) {
  return nvJitLinkGetLinkedCubin(handle, to);
}
int nvJitLinkGetLinkedLTOIRSize(Handle /*handle*/, std::size_t* /*size*/) {
  return invalid_input;
}
int nvJitLinkGetLinkedLTOIR(Handle /*handle*/, char* /*to*/) {
  return invalid_input;
}
int nvJitLinkGetErrorLogSize(Handle handle, std::size_t* size) {
  return !nvJitLink::has(handle) ? invalid_input : size_of_text(handle, handle->errors, size);
}
int nvJitLinkGetErrorLog(Handle handle, char* to) {
  return !nvJitLink::has(handle) ? invalid_input : give_text(handle, handle->errors, to);
}
int nvJitLinkGetInfoLogSize(Handle handle, std::size_t* size) {
  return !nvJitLink::has(handle) ? invalid_input : size_of_text(handle, handle->information, size);
}
int nvJitLinkGetInfoLog(Handle handle, char* to) {
  return !nvJitLink::has(handle) ? invalid_input : give_text(handle, handle->information, to);
}
int nvJitLinkVersion(unsigned* major, unsigned* minor) {
  if (major == nullptr || minor == nullptr)
    return invalid_input;
  if (auto* const version = real<int(unsigned*, unsigned*)>("nvJitLinkVersion"))
    return version(major, minor);
  *major = KERNEVO_NVJITLINK_MAJOR;
  *minor = 0;
  return success;
}

} // extern "C"

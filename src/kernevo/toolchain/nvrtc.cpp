#include "kernevo/toolchain/nvrtc.h"

#include "kernevo/base/instrumented.h"

#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <utility>

namespace kernevo {

namespace {

// The part of NVRTC's C interface used here. Its numbers have been stable since CUDA 8.
using NvrtcHandle = void*;
constexpr int kSuccess = 0;
constexpr int kOutOfMemory = 1;
constexpr int kInvalidOption = 5;
constexpr int kCompilation = 6;
constexpr int kNameNotValid = 10;

struct Functions {
  int (*create)(NvrtcHandle*, const char*, const char*, int, const char* const*,
                const char* const*) = nullptr;
  int (*destroy)(NvrtcHandle*) = nullptr;
  int (*compile)(NvrtcHandle, int, const char* const*) = nullptr;
  int (*ptx_size)(NvrtcHandle, std::size_t*) = nullptr;
  int (*ptx)(NvrtcHandle, char*) = nullptr;
  int (*log_size)(NvrtcHandle, std::size_t*) = nullptr;
  int (*log)(NvrtcHandle, char*) = nullptr;
  int (*add_name)(NvrtcHandle, const char*) = nullptr;
  int (*lowered_name)(NvrtcHandle, const char*, const char**) = nullptr;
  int (*architecture_count)(int*) = nullptr;
  int (*architectures)(int*) = nullptr;
  const char* (*error_text)(int) = nullptr;
};

template <class Function> bool bind(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(::dlsym(library, name));
  return into != nullptr;
}

// NVRTC finds a second library of its own by its run path, but not where a sanitizer calls dlopen
// in its name. One that is loaded already is found.
void load_companions(const std::filesystem::path& nvrtc) {
  std::error_code trouble;
  for (const auto& entry : std::filesystem::directory_iterator(nvrtc.parent_path(), trouble))
    if (entry.path().filename().string().starts_with("libnvrtc-builtins"))
      ::dlopen(entry.path().c_str(), RTLD_NOW | RTLD_LOCAL);
}

Result<Functions> load(const std::filesystem::path& path) {
  if constexpr (kInstrumented)
    load_companions(path);
  // Never closed: NVRTC keeps threads and static state that do not survive it.
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot load NVRTC: {}", reason != nullptr ? reason : "unknown reason"),
                Place{path.string()}, "run 'make setup', or set KERNEVO_CUDA to a toolkit folder");
  }
  Functions f;
  const bool complete = bind(library, "nvrtcCreateProgram", f.create) &&
                        bind(library, "nvrtcDestroyProgram", f.destroy) &&
                        bind(library, "nvrtcCompileProgram", f.compile) &&
                        bind(library, "nvrtcGetPTXSize", f.ptx_size) &&
                        bind(library, "nvrtcGetPTX", f.ptx) &&
                        bind(library, "nvrtcGetProgramLogSize", f.log_size) &&
                        bind(library, "nvrtcGetProgramLog", f.log) &&
                        bind(library, "nvrtcAddNameExpression", f.add_name) &&
                        bind(library, "nvrtcGetLoweredName", f.lowered_name) &&
                        bind(library, "nvrtcGetNumSupportedArchs", f.architecture_count) &&
                        bind(library, "nvrtcGetSupportedArchs", f.architectures) &&
                        bind(library, "nvrtcGetErrorString", f.error_text);
  if (!complete)
    return fail(ErrorCode::infrastructure, "this NVRTC is too old; CUDA 11.2 or later is needed",
                Place{path.string()});
  return f;
}

Result<Functions> library_functions(const std::filesystem::path& path) {
  static std::mutex mutex;
  static std::map<std::filesystem::path, Functions> loaded;
  const std::lock_guard lock(mutex);
  if (const auto found = loaded.find(path); found != loaded.end())
    return found->second;
  KERNEVO_TRY(functions, load(path));
  return loaded.emplace(path, functions).first->second;
}

class Program {
public:
  explicit Program(const Functions& functions) : functions_(functions) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (handle_ != nullptr)
      functions_.destroy(&handle_);
  }

  NvrtcHandle* address() { return &handle_; }
  NvrtcHandle handle() const { return handle_; }

private:
  const Functions& functions_;
  NvrtcHandle handle_ = nullptr;
};

std::string fetch_text(NvrtcHandle handle, int (*size)(NvrtcHandle, std::size_t*),
                       int (*read)(NvrtcHandle, char*)) {
  std::size_t length = 0;
  if (size(handle, &length) != kSuccess || length == 0)
    return "";
  std::string text(length, '\0');
  if (read(handle, text.data()) != kSuccess)
    return "";
  text.resize(text.find('\0') == std::string::npos ? length : text.find('\0'));
  return text;
}

std::vector<const char*> pointers(const std::vector<std::string>& strings) {
  std::vector<const char*> result;
  result.reserve(strings.size());
  for (const std::string& text : strings)
    result.push_back(text.c_str());
  return result;
}

NvrtcOutcome::Kind outcome_of(int code) {
  switch (code) {
  case kSuccess: return NvrtcOutcome::Kind::compiled;
  case kCompilation:
  case kNameNotValid: return NvrtcOutcome::Kind::rejected;
  case kInvalidOption: return NvrtcOutcome::Kind::bad_option;
  default: return NvrtcOutcome::Kind::internal_failure;
  }
}

} // namespace

Result<NvrtcOutcome> run_nvrtc(const std::filesystem::path& library, const NvrtcProgram& request) {
  KERNEVO_TRY(functions, library_functions(library));
  std::vector<const char*> header_texts;
  std::vector<const char*> header_names;
  for (const VirtualHeader& header : request.headers) {
    header_texts.push_back(header.text.c_str());
    header_names.push_back(header.name.c_str());
  }
  Program program(functions);
  auto trouble = [&](const char* step, int code) {
    return fail(ErrorCode::infrastructure,
                fmt::format("NVRTC cannot {}: {}", step, functions.error_text(code)));
  };
  int code = functions.create(program.address(), request.source.c_str(), request.name.c_str(),
                              static_cast<int>(header_texts.size()), header_texts.data(),
                              header_names.data());
  if (code != kSuccess)
    return trouble("start", code);
  for (const std::string& name : request.name_expressions)
    if (code = functions.add_name(program.handle(), name.c_str()); code != kSuccess)
      return trouble("take a kernel's name", code);
  const std::vector<const char*> options = pointers(request.options);
  code = functions.compile(program.handle(), static_cast<int>(options.size()), options.data());
  if (code == kOutOfMemory)
    return trouble("compile", code);
  NvrtcOutcome outcome;
  outcome.kind = outcome_of(code);
  outcome.log = fetch_text(program.handle(), functions.log_size, functions.log);
  if (outcome.kind != NvrtcOutcome::Kind::compiled)
    return outcome;
  outcome.ptx = fetch_text(program.handle(), functions.ptx_size, functions.ptx);
  for (const std::string& name : request.name_expressions) {
    const char* lowered = nullptr;
    if (functions.lowered_name(program.handle(), name.c_str(), &lowered) == kSuccess &&
        lowered != nullptr)
      outcome.lowered_names[name] = lowered;
  }
  return outcome;
}

Result<std::vector<int>> nvrtc_architectures(const std::filesystem::path& library) {
  KERNEVO_TRY(functions, library_functions(library));
  int count = 0;
  if (functions.architecture_count(&count) != kSuccess || count <= 0)
    return fail(ErrorCode::infrastructure, "NVRTC does not say which architectures it knows",
                Place{library.string()});
  std::vector<int> result(static_cast<std::size_t>(count));
  if (functions.architectures(result.data()) != kSuccess)
    return fail(ErrorCode::infrastructure, "NVRTC does not say which architectures it knows",
                Place{library.string()});
  return result;
}

} // namespace kernevo

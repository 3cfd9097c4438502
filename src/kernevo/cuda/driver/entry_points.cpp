// Where functions of the driver are: by name and version, as cuGetProcAddress is asked for them.
#define __CUDA_API_VERSION_INTERNAL // names as they are, no macros that give them versions
#include "kernevo/cuda/core/entry_points.h"

#include "kernevo/cuda/core/notice.h"
#include "kernevo/cuda/core/per_thread.h"
#include "kernevo/cuda/core/session.h"
#include "kernevo/cuda/core/unsupported.h"
#include "kernevo/cuda/driver/driver.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

using kernevo::cuda::EntryPoint;

namespace {

struct Entry {
  std::string_view name;
  int version;
  bool per_thread;
  const void* function;
  const void* supported; // the function that decides whether there is one
};

// NOLINTBEGIN
#define KERNEVO_DRIVER(symbol, name, version)                                                      \
  Entry{#name, version, false, reinterpret_cast<const void*>(&symbol),                             \
        reinterpret_cast<const void*>(&symbol)},
#define KERNEVO_DRIVER_PER_THREAD(symbol, name, version, same)                                     \
  Entry{#name, version, true, reinterpret_cast<const void*>(&symbol),                              \
        reinterpret_cast<const void*>(&same)},
const auto& table() {
  static const std::vector<Entry> entries = {
#include "kernevo/cuda/driver/functions.def"
  };
  return entries;
}
// NOLINTEND

} // namespace

namespace kernevo::cuda {

// Programs take it for granted that a function this old is there, and look at what it returns;
// newer ones they look for.
constexpr int kTakenForGranted = 8000;

// The newest that is not newer than asked. Whoever wants the thread's own stream gets that variant
// of a function, if it has one.
EntryPoint find_entry_point(const char* name, int version, bool per_thread) {
  const Entry* best = nullptr;
  bool is_newer = false;
  const auto better = [&](const Entry& entry) {
    return best == nullptr || (entry.per_thread == best->per_thread ? entry.version > best->version
                                                                    : entry.per_thread);
  };
  for (const Entry& entry : table())
    if (entry.name == name && (per_thread || !entry.per_thread) &&
        (entry.version <= kTakenForGranted || is_supported(entry.supported))) {
      is_newer = is_newer || entry.version > version;
      if (entry.version <= version && better(entry))
        best = &entry;
    }
  if (best == nullptr)
    return {nullptr, is_newer};
  return {const_cast<void*>(best->function), false}; // NOLINT
}

} // namespace kernevo::cuda

extern "C" {

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  KERNEVO_NEED(symbol);
  KERNEVO_NEED(function);
  *function = nullptr;
  // NVIDIA's runtime asks for the nameless function first.
  if (*symbol == '\0')
    symbol = "cuGetProcAddress";
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0 ||
                          (kernevo::cuda::null_stream_is_the_threads() &&
                           (flags & CU_GET_PROC_ADDRESS_LEGACY_STREAM) == 0);
  const EntryPoint found = kernevo::cuda::find_entry_point(symbol, version, per_thread);
  *function = found.function;
  if (status != nullptr)
    *status = found.function != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
              : found.is_newer          ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                        : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  // Who can be told why is told so; that is no error.
  return found.function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

// Tables of functions that only NVIDIA's own libraries know. By some of them a driver proves that
// it is NVIDIA's: this one is not, and does not say so.
CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  KERNEVO_NEED(table);
  KERNEVO_NEED(id);
  *table = nullptr;
  constexpr std::array<unsigned char, 4> kOfTheRuntime = {0x6B, 0xD5, 0xFB, 0x6C};
  constexpr std::array<unsigned char, 4> kProof = {0xD4, 0x08, 0x20, 0x55};
  if (std::memcmp(id->bytes, kOfTheRuntime.data(), 4) == 0 ||
      std::memcmp(id->bytes, kProof.data(), 4) == 0) {
    static const bool told = [] {
      kernevo::cuda::notice(
          "the program brings NVIDIA's own CUDA runtime (linked statically), which wants NVIDIA's "
          "driver and refuses a virtual GPU; build it with -cudart shared");
      return true;
    }();
    (void)told;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

// Whoever finds this function is not on a GPU.
int kernevoStandIn(char* text, int size) {
  if (text != nullptr && size > 0)
    std::snprintf(text, static_cast<std::size_t>(size), "virtual %s, kernevo %s",
                  kernevo::cuda::Session::get().machine().gpu().name.c_str(), KERNEVO_VERSION);
  return 1;
}

} // extern "C"

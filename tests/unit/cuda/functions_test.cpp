// The driver library against NVIDIA's headers: every function of cuda.h is there, and
// cuGetProcAddress gives out what cudaTypedefs.h says belongs to a name and a version.
#include "kernevo/base/files.h"
#include "places.h"

#include <cstdlib>
#include <cuda.h>
#include <dlfcn.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace kernevo {
namespace {

namespace fs = std::filesystem;

std::string header(const std::string& name) {
  std::vector<fs::path> folders = {source_folder() + "/.deps/cuda/nvidia/cu13/include"};
  if (const char* toolkit = std::getenv("KERNEVO_CUDA"))
    folders.insert(folders.begin(), fs::path(toolkit) / "include");
  for (const fs::path& folder : folders)
    if (auto text = read_text_file(folder / name))
      return *text;
  return "";
}

void* driver() {
  static void* const opened = dlopen("libcuda.so.1", RTLD_NOW);
  return opened;
}

struct Listed {
  std::string symbol;
  std::string name;
  int version;
  bool per_thread;
};

const std::vector<Listed>& listed() {
#define KERNEVO_DRIVER(symbol, name, version) {#symbol, #name, version, false},
#define KERNEVO_DRIVER_PER_THREAD(symbol, name, version, same) {#symbol, #name, version, true},
  static const std::vector<Listed> all = {
#include "kernevo/cuda/driver/functions.def"
  };
  return all;
}

// Functions that cuda.h declares, by the names before its macros give them versions.
std::set<std::string> declared(const std::string& text) {
  std::set<std::string> names;
  static const std::regex declaration(R"(CUresult CUDAAPI (cu[A-Z]\w*)\()");
  for (std::sregex_iterator at(text.begin(), text.end(), declaration), end; at != end; ++at)
    names.insert((*at)[1]);
  return names;
}

TEST(DriverFunctions, EveryNameOfTheHeaderIsExported) {
  const std::string text = header("cuda.h");
  if (text.empty())
    GTEST_SKIP() << "no cuda.h: scripts/setup.sh installs it";
  ASSERT_NE(driver(), nullptr) << dlerror();
  const std::set<std::string> names = declared(text);
  EXPECT_GT(names.size(), 460U);
  std::vector<std::string> missing;
  for (const std::string& name : names)
    if (dlsym(driver(), name.c_str()) == nullptr)
      missing.push_back(name);
  EXPECT_THAT(missing, testing::IsEmpty());
  for (const Listed& one : listed())
    EXPECT_NE(dlsym(driver(), one.symbol.c_str()), nullptr) << one.symbol;
  EXPECT_NE(dlsym(driver(), "kernevoStandIn"), nullptr);
}

TEST(DriverFunctions, NothingElseIsExported) {
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "_ZN7kernevo4cuda7Session3getEv"), nullptr);
  EXPECT_EQ(dlsym(driver(), "cudaMalloc"), nullptr);
  EXPECT_EQ(dlsym(driver(), "nvrtcCompileProgram"), nullptr);
}

TEST(DriverFunctions, NamesAndVersionsAreThoseOfTheTypedefs) {
  const std::string text = header("cudaTypedefs.h");
  if (text.empty())
    GTEST_SKIP() << "no cudaTypedefs.h: scripts/setup.sh installs it";
  std::set<std::pair<std::string, int>> wanted;
  static const std::regex type(R"(\*PFN_(cu\w+?)_v(\d+)(_ptds|_ptsz)?\))");
  for (std::sregex_iterator at(text.begin(), text.end(), type), end; at != end; ++at)
    wanted.emplace((*at)[1].str() + (*at)[3].str(), std::stoi((*at)[2]));
  EXPECT_GT(wanted.size(), 600U);
  std::set<std::pair<std::string, int>> found;
  for (const Listed& one : listed()) {
    const std::string end =
        one.per_thread ? one.symbol.substr(one.symbol.size() - 5) : std::string();
    found.emplace(one.name + end, one.version);
  }
  for (const auto& one : wanted)
    EXPECT_TRUE(found.contains(one)) << one.first << " of version " << one.second;
}

// Of one name the newer version has the later symbol: cuCtxCreate, _v2, _v3, _v4.
TEST(DriverFunctions, NewerVersionsHaveLaterSymbols) {
  std::map<std::pair<std::string, bool>, std::map<int, std::string>> by_name;
  for (const Listed& one : listed())
    by_name[{one.name, one.per_thread}][one.version] = one.symbol;
  for (const auto& [name, versions] : by_name) {
    std::string before;
    for (const auto& [version, symbol] : versions) {
      EXPECT_TRUE(before.empty() || before.size() < symbol.size() || before < symbol)
          << symbol << " after " << before;
      before = symbol;
    }
  }
}

class EntryPoints : public testing::Test {
protected:
  static void* find(const char* name, int version, cuuint64_t flags = 0) {
    void* function = nullptr;
    CUdriverProcAddressQueryResult status{};
    const CUresult result = cuGetProcAddress(name, &function, version, flags, &status);
    EXPECT_EQ(result == CUDA_SUCCESS, function != nullptr);
    EXPECT_EQ(result == CUDA_SUCCESS, status == CU_GET_PROC_ADDRESS_SUCCESS);
    return function;
  }
  static CUdriverProcAddressQueryResult status(const char* name, int version) {
    void* function = nullptr;
    CUdriverProcAddressQueryResult found{};
    EXPECT_EQ(cuGetProcAddress(name, &function, version, 0, &found), CUDA_ERROR_NOT_FOUND);
    EXPECT_EQ(function, nullptr);
    return found;
  }
};

TEST_F(EntryPoints, TheVersionIsHonoured) {
  EXPECT_EQ(find("cuCtxCreate", 3020), find("cuCtxCreate", 11030));
  EXPECT_NE(find("cuCtxCreate", 11030), find("cuCtxCreate", 11040));
  EXPECT_NE(find("cuCtxCreate", 12040), find("cuCtxCreate", 12050));
  EXPECT_EQ(find("cuCtxCreate", 12050), find("cuCtxCreate", 99990));
  EXPECT_NE(find("", 12000), nullptr) << "the nameless function is cuGetProcAddress";
}

TEST_F(EntryPoints, AnOldFunctionThatDoesNothingIsThereAndSaysSo) {
  void* const found = find("cuIpcGetMemHandle", 13000);
  ASSERT_NE(found, nullptr);
  CUipcMemHandle handle;
  EXPECT_EQ(reinterpret_cast<decltype(&cuIpcGetMemHandle)>(found)(&handle, 0), // NOLINT
            CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(EntryPoints, WhatIsNotThereSaysWhy) {
  EXPECT_EQ(status("cuNothingOfThatName", 13000), CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(status("cuLaunchKernelEx", 11000), CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(status("cuGreenCtxCreate", 13000), CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)
      << "not supported is not there: programs ask before they use";
  EXPECT_EQ(cuGetProcAddress(nullptr, nullptr, 13000, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(EntryPoints, TheThreadsOwnStreamHasFunctionsOfItsOwn) {
  void* const legacy = find("cuLaunchKernel", 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  void* const own = find("cuLaunchKernel", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  EXPECT_NE(legacy, own);
  EXPECT_EQ(find("cuLaunchKernel", 13000), legacy);
  EXPECT_EQ(find("cuInit", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM),
            find("cuInit", 13000))
      << "it takes no stream";
}

TEST(DriverFunctions, WhatIsNotSupportedSaysSoOnce) {
  CUipcMemHandle handle{};
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuIpcGetMemHandle(&handle, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuIpcGetMemHandle(&handle, 0), CUDA_ERROR_NOT_SUPPORTED);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(told, "kernevo: cuIpcGetMemHandle is not supported on the virtual GPU\n");
}

TEST(DriverFunctions, NobodyIsToldThatThisIsNvidias) {
  const void* table = &table;
  CUuuid proof{};
  proof.bytes[0] = static_cast<char>(0xD4);
  proof.bytes[1] = 0x08;
  proof.bytes[2] = 0x20;
  proof.bytes[3] = 0x55;
  testing::internal::CaptureStderr();
  EXPECT_NE(cuGetExportTable(&table, &proof), CUDA_SUCCESS);
  EXPECT_EQ(table, nullptr);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("-cudart shared"));
  auto* const stand_in =
      reinterpret_cast<int (*)(char*, int)>(dlsym(driver(), "kernevoStandIn")); // NOLINT
  ASSERT_NE(stand_in, nullptr);
  char text[64] = "";
  EXPECT_EQ(stand_in(text, sizeof text), 1);
  EXPECT_THAT(std::string(text), testing::StartsWith("virtual A100, kernevo "));
}

TEST(DriverErrors, HaveTheNamesOfTheHeader) {
  const char* text = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "out of memory");
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(9), &text), CUDA_ERROR_INVALID_VALUE)
      << "the runtime's own";
  EXPECT_EQ(text, nullptr);
  const std::string all = header("cuda.h");
  const auto begin = all.find("typedef enum cudaError_enum {");
  if (begin == std::string::npos)
    GTEST_SKIP() << "no cuda.h: scripts/setup.sh installs it";
  const std::string list = all.substr(begin, all.find("} CUresult;") - begin);
  static const std::regex enumerator(R"((CUDA_\w+)\s*=\s*(\d+))");
  int count = 0;
  for (std::sregex_iterator at(list.begin(), list.end(), enumerator), end; at != end; ++at) {
    const auto error = static_cast<CUresult>(std::stoi((*at)[2]));
    EXPECT_EQ(cuGetErrorName(error, &text), CUDA_SUCCESS) << (*at)[1];
    EXPECT_EQ(std::string(text), (*at)[1].str());
    EXPECT_EQ(cuGetErrorString(error, &text), CUDA_SUCCESS);
    EXPECT_STRNE(text, "unrecognized error code") << (*at)[1];
    ++count;
  }
  EXPECT_GT(count, 90);
}

} // namespace
} // namespace kernevo

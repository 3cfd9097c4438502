// Compiling at run time: a program that asks for machine code is given PTX.
#include "fake_nvrtc.h"

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

extern "C" {
int nvrtcCompileProgram(void* program, int count, const char* const* options);
int nvrtcGetCUBINSize(void* program, std::size_t* bytes);
int nvrtcGetCUBIN(void* program, char* code);
}

namespace {

// What the stand-in shall take for NVIDIA's library: the file that fake_nvrtc.cpp became.
class Nvrtc : public testing::Test {
protected:
  static void SetUpTestSuite() {
    Dl_info fake{};
    ASSERT_NE(dladdr(reinterpret_cast<void*>(&fake_nvrtc_options), &fake), 0); // NOLINT
    setenv("KERNEVO_NVRTC", fake.dli_fname, 1);                                // NOLINT
  }
};

TEST_F(Nvrtc, RealArchitecturesBecomeVirtualOnes) {
  const std::array<const char*, 5> options = {"--gpu-architecture=sm_80", "-arch=sm_90a", "-arch",
                                              "sm_75", "-DNAME=sm_80"};
  EXPECT_EQ(nvrtcCompileProgram(nullptr, 5, options.data()), 0);
  EXPECT_THAT(fake_nvrtc_options(),
              testing::ElementsAre("--gpu-architecture=compute_80", "-arch=compute_90a", "-arch",
                                   "compute_75", "-DNAME=sm_80"));
  EXPECT_EQ(nvrtcCompileProgram(nullptr, 0, nullptr), 0);
  EXPECT_THAT(fake_nvrtc_options(), testing::IsEmpty());
}

TEST_F(Nvrtc, MachineCodeIsPtx) {
  std::size_t bytes = 0;
  ASSERT_EQ(nvrtcGetCUBINSize(nullptr, &bytes), 0);
  std::string code(bytes, '?');
  ASSERT_EQ(nvrtcGetCUBIN(nullptr, code.data()), 0);
  EXPECT_STREQ(code.c_str(), ".version 8.0");
}

TEST_F(Nvrtc, OptionsThatAreMissingAreRefused) {
  const std::array<const char*, 1> none = {nullptr};
  EXPECT_EQ(nvrtcCompileProgram(nullptr, 1, none.data()), 5);
  EXPECT_EQ(nvrtcCompileProgram(nullptr, 1, nullptr), 5);
}

} // namespace

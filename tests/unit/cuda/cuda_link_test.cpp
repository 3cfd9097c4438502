// The stand-in for nvJitLink: PTX goes in, what comes out as machine code is what the driver loads.
#include "kernevo/model/register_limit.h"

#include <cstdint>
#include <cstring>
#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

extern "C" {
using Handle = void*;
int nvJitLinkCreate(Handle* handle, std::uint32_t count, const char** options);
int nvJitLinkDestroy(Handle* handle);
int nvJitLinkAddData(Handle handle, int type, const void* data, std::size_t size, const char* name);
int nvJitLinkComplete(Handle handle);
int nvJitLinkGetLinkedCubinSize(Handle handle, std::size_t* size);
int nvJitLinkGetLinkedCubin(Handle handle, void* to);
int nvJitLinkGetErrorLogSize(Handle handle, std::size_t* size);
int nvJitLinkGetErrorLog(Handle handle, char* to);
int __nvJitLinkCreate_13_2(Handle* handle, std::uint32_t count, const char** options);
}

namespace {

constexpr int kSuccess = 0;
constexpr int kMissingArch = 2;
constexpr int kInvalidInput = 3;
constexpr int kCubin = 1;
constexpr int kPtx = 2;
constexpr int kLibrary = 6;

const std::string kCaller = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) twice(.param .b32 x);
.visible .entry go(.param .u64 data) {
  .reg .u64 %a;
  .reg .b32 %r;
  ld.param.u64 %a, [data];
  ld.global.b32 %r, [%a];
  { .param .b32 x; .param .b32 r;
    st.param.b32 [x], %r;
    call (r), twice, (x);
    ld.param.b32 %r, [r]; }
  st.global.b32 [%a], %r;
  ret;
})";
const std::string kCallee = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .func (.param .b32 r) twice(.param .b32 x) {
  .reg .b32 %r;
  ld.param.b32 %r, [x];
  add.u32 %r, %r, %r;
  st.param.b32 [r], %r;
  ret;
})";

class CudaLink : public testing::Test {
protected:
  void SetUp() override {
    const char* options[] = {"-arch=sm_80"};
    ASSERT_EQ(nvJitLinkCreate(&linker_, 1, options), kSuccess);
  }
  void TearDown() override { nvJitLinkDestroy(&linker_); }
  int add(int type, const std::string& data, const char* name = "input") {
    return nvJitLinkAddData(linker_, type, data.data(), data.size(), name);
  }
  std::string errors() {
    std::size_t size = 0;
    nvJitLinkGetErrorLogSize(linker_, &size);
    std::string text(size, '\0');
    nvJitLinkGetErrorLog(linker_, text.data());
    return text;
  }
  Handle linker_ = nullptr;
};

TEST_F(CudaLink, LinkedModulesLoadAndRun) {
  ASSERT_EQ(add(kPtx, kCaller), kSuccess);
  ASSERT_EQ(add(kPtx, kCallee), kSuccess);
  ASSERT_EQ(add(kLibrary, "the device runtime"), kSuccess);
  ASSERT_EQ(nvJitLinkComplete(linker_), kSuccess) << errors();
  std::size_t size = 0;
  ASSERT_EQ(nvJitLinkGetLinkedCubinSize(linker_, &size), kSuccess);
  std::string cubin(size, '\0');
  ASSERT_EQ(nvJitLinkGetLinkedCubin(linker_, cubin.data()), kSuccess);
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr data = 0;
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxCreate(&context, nullptr, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleLoadData(&module, cubin.data()), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "go"), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&data, 4), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(data, 21, 1), CUDA_SUCCESS);
  void* parameters[] = {&data};
  ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr),
            CUDA_SUCCESS);
  int back = 0;
  ASSERT_EQ(cuMemcpyDtoH(&back, data, 4), CUDA_SUCCESS);
  EXPECT_EQ(back, 42);
  // What was linked once is an input like any other.
  Handle again = nullptr;
  const char* options[] = {"-arch=sm_80"};
  ASSERT_EQ(__nvJitLinkCreate_13_2(&again, 1, options), kSuccess);
  EXPECT_EQ(nvJitLinkAddData(again, kCubin, cubin.data(), cubin.size(), "linked"), kSuccess);
  EXPECT_EQ(nvJitLinkComplete(again), kSuccess);
  nvJitLinkDestroy(&again);
  cuCtxDestroy(context);
}

TEST_F(CudaLink, ALimitOfRegistersStaysWithTheCode) {
  Handle limited = nullptr;
  const char* options[] = {"-arch=sm_80", "-maxrregcount=40"};
  ASSERT_EQ(nvJitLinkCreate(&limited, 2, options), kSuccess);
  ASSERT_EQ(nvJitLinkAddData(limited, kPtx, kCallee.data(), kCallee.size(), "input"), kSuccess);
  ASSERT_EQ(nvJitLinkComplete(limited), kSuccess);
  std::size_t size = 0;
  ASSERT_EQ(nvJitLinkGetLinkedCubinSize(limited, &size), kSuccess);
  std::string code(size, '\0');
  ASSERT_EQ(nvJitLinkGetLinkedCubin(limited, code.data()), kSuccess);
  EXPECT_EQ(kernevo::register_limit(code), 40);
  EXPECT_EQ(kernevo::register_limit(kCallee), std::nullopt);
  EXPECT_EQ(kernevo::register_limit(std::string(kernevo::kRegisterLimit) + "many\n"), std::nullopt);
  nvJitLinkDestroy(&limited);
}

TEST_F(CudaLink, MachineCodeIsRefusedByName) {
  EXPECT_EQ(add(kCubin,
                "\x7f"
                "ELF and more",
                "kernels.cubin"),
            kInvalidInput);
  EXPECT_THAT(errors(), testing::HasSubstr("kernels.cubin is machine code"));
  EXPECT_EQ(nvJitLinkComplete(linker_), kInvalidInput) << "there is nothing to link";
}

TEST_F(CudaLink, HandlesAndArgumentsAreChecked) {
  int nothing = 0;
  EXPECT_EQ(nvJitLinkAddData(&nothing, kPtx, kCallee.data(), 1, ""), kInvalidInput);
  EXPECT_EQ(nvJitLinkAddData(linker_, kPtx, nullptr, 1, ""), kInvalidInput);
  EXPECT_EQ(add(kPtx, "no module at all"), kInvalidInput);
  Handle without = nullptr;
  EXPECT_EQ(nvJitLinkCreate(&without, 0, nullptr), kMissingArch);
  EXPECT_EQ(nvJitLinkDestroy(&without), kSuccess);
  EXPECT_EQ(nvJitLinkDestroy(&without), kInvalidInput);
}

} // namespace

// What the assembler says of kernels, asked through the driver and the runtime.
#include "toolchain_test.h"

#include <array>
#include <cstdint>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>

namespace {

// few: next to nothing. stacked: 400 bytes that are reached through an index, and constants.
// wide(values): 100 values live at once.
std::string kernels() {
  std::string text = R"(.version 7.0
.target sm_80
.address_size 64
.const .align 4 .b8 table[192];
.visible .entry few(.param .u64 out) .maxntid 192, 1, 1
{
  .reg .u64 %rd<2>;
  ld.param.u64 %rd1, [out];
  st.global.u32 [%rd1], 1;
  ret;
}
.visible .entry stacked(.param .u64 out)
{
  .local .align 4 .b8 depot[400];
  .reg .u64 %rd<6>;
  .reg .u32 %r<6>;
  ld.param.u64 %rd1, [out];
  mov.u64 %rd2, depot;
  ld.global.u32 %r1, [%rd1];
  and.b32 %r1, %r1, 63;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd2, %rd3;
  st.local.u32 [%rd4], %r1;
  ld.global.u32 %r2, [%rd1+4];
  and.b32 %r2, %r2, 63;
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd5, %rd2, %rd3;
  ld.local.u32 %r3, [%rd5];
  st.global.u32 [%rd1], %r3;
  ret;
}
.visible .entry wide(.param .u64 out)
{
  .reg .u64 %rd<2>;
  .reg .f32 %f<102>;
  ld.param.u64 %rd1, [out];
)";
  for (int i = 1; i <= 100; ++i)
    text += "  ld.volatile.global.f32 %f" + std::to_string(i) + ", [%rd1+" + std::to_string(4 * i) +
            "];\n";
  for (int i = 100; i >= 1; --i)
    text += "  st.volatile.global.f32 [%rd1+" + std::to_string(8 * i) + "], %f" +
            std::to_string(i) + ";\n";
  return text + "  ret;\n}\n";
}

class KernelResources : public testing::Test {
protected:
  void SetUp() override {
    if (!kernevo::needed_toolchain({&kernevo::Toolchain::ptxas}))
      return;
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    CUcontext context = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleLoadData(&module_, kernels().c_str()), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (module_ != nullptr)
      cuModuleUnload(module_);
  }
  CUfunction kernel(const char* name) {
    CUfunction found = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&found, module_, name), CUDA_SUCCESS);
    return found;
  }
  int attribute(const char* name, CUfunction_attribute which) {
    int value = -1;
    EXPECT_EQ(cuFuncGetAttribute(&value, which, kernel(name)), CUDA_SUCCESS);
    return value;
  }
  int resident(const char* name, int threads) {
    int blocks = -1;
    EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel(name), threads, 0),
              CUDA_SUCCESS);
    return blocks;
  }

  CUmodule module_ = nullptr;
};

TEST_F(KernelResources, RegistersAndMemoryAreTheAssemblers) {
  if (IsSkipped())
    return;
  EXPECT_LE(attribute("few", CU_FUNC_ATTRIBUTE_NUM_REGS), 16);
  EXPECT_GE(attribute("wide", CU_FUNC_ATTRIBUTE_NUM_REGS), 100);
  EXPECT_EQ(attribute("few", CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 0);
  EXPECT_EQ(attribute("stacked", CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 400);
  EXPECT_EQ(attribute("stacked", CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES), 192);
  cudaFuncAttributes all{};
  ASSERT_EQ(cudaFuncGetAttributes(&all, kernel("stacked")), cudaSuccess);
  EXPECT_EQ(all.localSizeBytes, 400U);
  EXPECT_EQ(all.constSizeBytes, 192U);
}

TEST_F(KernelResources, WhoLoadsAModuleMayLimitRegisters) {
  if (IsSkipped())
    return;
  CUmodule limited = nullptr;
  CUjit_option option = CU_JIT_MAX_REGISTERS;
  void* value = reinterpret_cast<void*>(std::uintptr_t{40}); // NOLINT
  ASSERT_EQ(cuModuleLoadDataEx(&limited, kernels().c_str(), 1, &option, &value), CUDA_SUCCESS);
  std::swap(module_, limited);
  EXPECT_LE(attribute("wide", CU_FUNC_ATTRIBUTE_NUM_REGS), 40);
  EXPECT_GT(attribute("wide", CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 0) << "the rest is spilled";
  std::swap(module_, limited);
  EXPECT_GE(attribute("wide", CU_FUNC_ATTRIBUTE_NUM_REGS), 100);
  EXPECT_EQ(cuModuleUnload(limited), CUDA_SUCCESS);
}

TEST_F(KernelResources, BlocksAreAsLargeAsTheRegistersAllow) {
  if (IsSkipped())
    return;
  EXPECT_EQ(attribute("few", CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 192); // .maxntid
  EXPECT_EQ(attribute("stacked", CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  const int registers = (attribute("wide", CU_FUNC_ATTRIBUTE_NUM_REGS) + 7) / 8 * 8;
  const int most = 65536 / (registers * 32) / 4 * 4 * 32;
  EXPECT_EQ(attribute("wide", CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), most);
  EXPECT_EQ(resident("stacked", 128), 16);
  EXPECT_EQ(resident("wide", 128), 65536 / (registers * 32) / 4);
}

} // namespace

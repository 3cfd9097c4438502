// Memory as a program uses it, rightly and wrongly.
#include "cuda_program.h"

#include <array>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>

namespace {

constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max() / 2;

class CudaMemory : public testing::Test {
protected:
  void TearDown() override { (void)cudaGetLastError(); }
  void* allocated(std::size_t bytes) {
    void* pointer = nullptr;
    EXPECT_EQ(cudaMalloc(&pointer, bytes), cudaSuccess);
    return pointer;
  }
  std::array<char, 64> host_{};
};

TEST_F(CudaMemory, NothingIsAllocatedForNothing) {
  void* pointer = &pointer;
  EXPECT_EQ(cudaMalloc(&pointer, 0), cudaSuccess);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(cudaMalloc(nullptr, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMalloc(&pointer, kHuge), cudaErrorMemoryAllocation);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(&pointer, 16), cudaSuccess) << "and life goes on";
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
}

TEST_F(CudaMemory, WhatIsFreedTwiceOrWasNeverAllocatedIsRefused) {
  void* const pointer = allocated(16);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
  EXPECT_EQ(cudaFree(pointer), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(host_.data()), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeAsync(pointer, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
}

TEST_F(CudaMemory, WhatIsFreedIsNeitherReadNorWritten) {
  void* const gone = allocated(16);
  void* const here = allocated(16);
  ASSERT_EQ(cudaFree(gone), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(gone, host_.data(), 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host_.data(), gone, 16, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(here, gone, 16, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(gone, 0, 16), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset2D(gone, 8, 0, 8, 2), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(here), cudaSuccess);
}

TEST_F(CudaMemory, ACopyStaysInsideItsAllocation) {
  auto* const pointer = static_cast<char*>(allocated(16));
  EXPECT_EQ(cudaMemcpy(pointer + 8, host_.data(), 9, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host_.data(), pointer, kHuge, cudaMemcpyDeviceToHost),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(pointer, 1, 17), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(nullptr, host_.data(), 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(pointer, nullptr, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(pointer, host_.data(), 4, static_cast<cudaMemcpyKind>(17)),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy(pointer + 8, host_.data(), 8, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
}

TEST_F(CudaMemory, RowsStayInsideTheirAllocation) {
  void* plane = nullptr;
  std::size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&plane, &pitch, 10, 4), cudaSuccess);
  EXPECT_GE(pitch, 10U);
  EXPECT_EQ(cudaMemset2D(plane, pitch, 7, 10, 4), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2D(host_.data(), 10, plane, pitch, 10, 4, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(host_[0], 7);
  EXPECT_EQ(host_[39], 7);
  EXPECT_EQ(host_[40], 0);
  EXPECT_EQ(cudaMemcpy2D(host_.data(), 10, plane, pitch, 10, 5, cudaMemcpyDeviceToHost),
            cudaErrorInvalidValue)
      << "a row too many";
  EXPECT_EQ(cudaMemset2D(plane, pitch, 0, 10, 5), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset2D(plane, pitch, 0, 10, kHuge), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy2D(host_.data(), 9, plane, pitch, 10, 2, cudaMemcpyDeviceToHost),
            cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2D(host_.data(), 10, plane, pitch, 0, kHuge, cudaMemcpyDeviceToHost),
            cudaSuccess)
      << "rows of nothing take no time";
  EXPECT_EQ(cudaMallocPitch(&plane, &pitch, kHuge, 8), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocPitch(&plane, nullptr, 8, 8), cudaErrorInvalidValue);
  cudaPitchedPtr box{};
  EXPECT_EQ(cudaMalloc3D(&box, {kHuge, 8, 8}), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMalloc3D(nullptr, {8, 8, 8}), cudaErrorInvalidValue);
}

TEST_F(CudaMemory, BoxesAreCopiedPlaneByPlane) {
  cudaPitchedPtr box{};
  ASSERT_EQ(cudaMalloc3D(&box, {4, 3, 2}), cudaSuccess);
  for (std::size_t i = 0; i < 24; ++i)
    host_[i] = static_cast<char>(i);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = {host_.data(), 4, 4, 3};
  copy.dstPtr = box;
  copy.extent = {4, 3, 2};
  copy.kind = cudaMemcpyHostToDevice;
  ASSERT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
  std::array<char, 24> back{};
  copy.srcPtr = box;
  copy.dstPtr = {back.data(), 4, 4, 3};
  copy.kind = cudaMemcpyDeviceToHost;
  ASSERT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
  for (std::size_t i = 0; i < 24; ++i)
    EXPECT_EQ(back.at(i), static_cast<char>(i));
  copy.extent.depth = 3;
  EXPECT_EQ(cudaMemcpy3D(&copy), cudaErrorInvalidValue) << "a plane too many";
  EXPECT_EQ(cudaMemcpy3D(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(box.ptr), cudaSuccess);
}

TEST_F(CudaMemory, HostMemoryIsRegisteredOnce) {
  EXPECT_EQ(cudaHostRegister(host_.data(), host_.size(), 0), cudaSuccess);
  EXPECT_NE(cudaHostRegister(host_.data(), host_.size(), 0), cudaSuccess);
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, host_.data()), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(cudaHostUnregister(host_.data()), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(host_.data()), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(nullptr, 8, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaPointerGetAttributes(nullptr, host_.data()), cudaErrorInvalidValue);
  host_[0] = 1; // still the host's own
}

TEST_F(CudaMemory, SymbolsAreKnownByTheirAddressAndSize) {
  std::size_t bytes = 0;
  void* address = nullptr;
  EXPECT_EQ(cudaGetSymbolSize(&bytes, &program().factor), cudaSuccess);
  EXPECT_EQ(bytes, 4U);
  EXPECT_EQ(cudaGetSymbolAddress(&address, &program().factor), cudaSuccess);
  EXPECT_NE(address, nullptr);
  EXPECT_EQ(cudaGetSymbolSize(&bytes, &bytes), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaGetSymbolAddress(&address, nullptr), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaGetSymbolAddress(nullptr, &program().factor), cudaErrorInvalidValue);
  float value = 0;
  ASSERT_EQ(set_factor(2.5F), cudaSuccess);
  EXPECT_EQ(cudaMemcpyFromSymbol(&value, &program().factor, 4, 0, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(value, 2.5F);
  EXPECT_EQ(cudaMemcpyFromSymbol(&value, &program().factor, 4, 1, cudaMemcpyDeviceToHost),
            cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaMemcpyFromSymbol(&value, &program().factor, kHuge, 8, cudaMemcpyDeviceToHost),
            cudaErrorInvalidSymbol);
}

TEST_F(CudaMemory, APoolIsAHandleUntilItIsDestroyed) {
  cudaMemPool_t usual = nullptr;
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&usual, 0), cudaSuccess);
  cudaMemPoolProps properties{};
  ASSERT_EQ(cudaMemPoolCreate(&pool, &properties), cudaSuccess);
  std::uint64_t threshold = 1U << 20U;
  EXPECT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold),
            cudaSuccess);
  threshold = 0;
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold),
            cudaSuccess);
  EXPECT_EQ(threshold, 1U << 20U);
  void* pointer = nullptr;
  ASSERT_EQ(cudaMallocFromPoolAsync(&pointer, 16, pool, nullptr), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(pointer, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSetMemPool(0, pool), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaSuccess);
  cudaMemPool_t current = nullptr;
  EXPECT_EQ(cudaDeviceGetMemPool(&current, 0), cudaSuccess);
  EXPECT_EQ(current, usual);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocFromPoolAsync(&pointer, 16, pool, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceSetMemPool(0, pool), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolTrimTo(pool, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolDestroy(usual), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolCreate(nullptr, &properties), cudaErrorInvalidValue);
}

} // namespace

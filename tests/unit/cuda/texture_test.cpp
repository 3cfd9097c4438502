// Arrays, textures and surfaces as a program uses them, rightly and wrongly.
#include "cuda_program.h"

#include <array>
#include <gtest/gtest.h>

namespace {

constexpr cudaChannelFormatDesc kFloat = {32, 0, 0, 0, cudaChannelFormatKindFloat};

class CudaTexture : public testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(cudaMallocArray(&array_, &kFloat, 4, 2, 0), cudaSuccess); }
  void TearDown() override {
    cudaFreeArray(array_);
    (void)cudaGetLastError();
  }
  cudaResourceDesc resource() const {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array_;
    return resource;
  }
  cudaArray_t array_ = nullptr;
};

TEST_F(CudaTexture, ACopyStaysInsideItsArray) {
  const std::array<float, 8> values = {1, 2, 3, 4, 5, 6, 7, 8};
  std::array<float, 8> back{};
  ASSERT_EQ(cudaMemcpy2DToArray(array_, 0, 0, values.data(), 16, 16, 2, cudaMemcpyHostToDevice),
            cudaSuccess);
  ASSERT_EQ(cudaMemcpy2DFromArray(back.data(), 16, array_, 0, 0, 16, 2, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(back, values);
  EXPECT_EQ(cudaMemcpy2DToArray(array_, 4, 0, values.data(), 16, 16, 2, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy2DToArray(array_, 0, 1, values.data(), 16, 16, 2, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy2DToArray(array_, ~std::size_t{0}, 0, values.data(), 16, 4, 1,
                                cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy2DToArray(array_, 0, 0, nullptr, 16, 16, 2, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy2DFromArray(back.data(), 16, nullptr, 0, 0, 16, 2, cudaMemcpyDeviceToHost),
            cudaErrorInvalidResourceHandle);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = {back.data(), 16, 4, 2};
  copy.dstArray = array_;
  copy.extent = {4, 2, 1};
  copy.kind = cudaMemcpyHostToDevice;
  EXPECT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
  copy.dstPos.y = 1;
  EXPECT_EQ(cudaMemcpy3D(&copy), cudaErrorInvalidValue);
}

TEST_F(CudaTexture, WhatIsFreedIsRefused) {
  cudaArray_t gone = nullptr;
  ASSERT_EQ(cudaMallocArray(&gone, &kFloat, 4, 2, 0), cudaSuccess);
  ASSERT_EQ(cudaFreeArray(gone), cudaSuccess);
  EXPECT_EQ(cudaFreeArray(gone), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeArray(nullptr), cudaSuccess);
  std::array<float, 8> host{};
  EXPECT_EQ(cudaMemcpy2DToArray(gone, 0, 0, host.data(), 16, 16, 2, cudaMemcpyHostToDevice),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaArrayGetInfo(nullptr, nullptr, nullptr, gone), cudaErrorInvalidResourceHandle);
  cudaResourceDesc wrong{};
  wrong.resType = cudaResourceTypeArray;
  wrong.res.array.array = gone;
  const cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  EXPECT_EQ(cudaCreateTextureObject(&texture, &wrong, &description, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaCreateSurfaceObject(&texture, &wrong), cudaErrorInvalidValue);
  CUDA_RESOURCE_DESC driver{};
  driver.resType = CU_RESOURCE_TYPE_ARRAY;
  driver.res.array.hArray = reinterpret_cast<CUarray>(gone); // NOLINT
  const CUDA_TEXTURE_DESC driver_texture{};
  EXPECT_EQ(cuTexObjectCreate(&texture, &driver, &driver_texture, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuArrayDestroy(reinterpret_cast<CUarray>(gone)), CUDA_ERROR_INVALID_VALUE); // NOLINT
}

TEST_F(CudaTexture, AnObjectIsDestroyedOnce) {
  const cudaResourceDesc made_of = resource();
  const cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  ASSERT_EQ(cudaCreateTextureObject(&texture, &made_of, &description, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDestroyTextureObject(texture), cudaSuccess);
  EXPECT_EQ(cudaDestroyTextureObject(texture), cudaErrorInvalidValue);
  cudaResourceDesc again{};
  EXPECT_EQ(cudaGetTextureObjectResourceDesc(&again, texture), cudaErrorInvalidValue);
  cudaSurfaceObject_t surface = 0;
  ASSERT_EQ(cudaCreateSurfaceObject(&surface, &made_of), cudaSuccess);
  EXPECT_EQ(cudaDestroySurfaceObject(surface), cudaSuccess);
  EXPECT_EQ(cudaDestroySurfaceObject(surface), cudaErrorInvalidValue);
  EXPECT_EQ(cudaCreateTextureObject(nullptr, &made_of, &description, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaCreateTextureObject(&texture, nullptr, &description, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaCreateTextureObject(&texture, &made_of, nullptr, nullptr), cudaErrorInvalidValue);
}

TEST_F(CudaTexture, FormatsAndSizesThatCannotBeAreRefused) {
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc none{};
  const cudaChannelFormatDesc odd = {7, 0, 0, 0, cudaChannelFormatKindUnsigned};
  EXPECT_EQ(cudaMallocArray(&array, &none, 4, 2, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocArray(&array, &odd, 4, 2, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocArray(&array, nullptr, 4, 2, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocArray(nullptr, &kFloat, 4, 2, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocArray(&array, &kFloat, 0, 2, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocArray(&array, &kFloat, std::size_t{1} << 40U, 2, 0), cudaErrorInvalidValue);
  EXPECT_EQ(array, nullptr);
  cudaMipmappedArray_t mipmap = nullptr;
  EXPECT_EQ(cudaMallocMipmappedArray(&mipmap, nullptr, {8, 4, 0}, 2, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetMipmappedArrayLevel(&array, nullptr, 0), cudaErrorInvalidValue);
  cudaResourceDesc linear{};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.devPtr = device_vector({1, 2});
  linear.res.linear.sizeInBytes = 8;
  const cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  EXPECT_EQ(cudaCreateTextureObject(&texture, &linear, &description, nullptr),
            cudaErrorInvalidValue)
      << "elements of no size";
  linear.res.linear.desc = kFloat;
  EXPECT_EQ(cudaCreateTextureObject(&texture, &linear, &description, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDestroyTextureObject(texture), cudaSuccess);
  EXPECT_EQ(cudaFree(linear.res.linear.devPtr), cudaSuccess);
}

TEST_F(CudaTexture, ALevelBelongsToItsMipmap) {
  cudaMipmappedArray_t mipmap = nullptr;
  ASSERT_EQ(cudaMallocMipmappedArray(&mipmap, &kFloat, {8, 4, 0}, 2, 0), cudaSuccess);
  cudaArray_t level = nullptr;
  ASSERT_EQ(cudaGetMipmappedArrayLevel(&level, mipmap, 1), cudaSuccess);
  EXPECT_EQ(cudaFreeArray(level), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeMipmappedArray(mipmap), cudaSuccess);
  EXPECT_EQ(cudaFreeMipmappedArray(mipmap), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetMipmappedArrayLevel(&level, mipmap, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaArrayGetInfo(nullptr, nullptr, nullptr, level), cudaErrorInvalidResourceHandle);
}

} // namespace

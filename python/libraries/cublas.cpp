// Products of matrices as cuBLAS has them. They are done by torch's operators, so that they are
// ordered, priced and written down like those.
#include "products.h"

#include "../kernevo_virtual/include/cublas_v2.h"

#include <cstdio>
#include <cstdlib>

namespace {

KernevoMultiply multiply = nullptr;

cublasStatus_t refused(cublasStatus_t status, const char* function, const char* why) {
  std::fprintf(stderr, "kernevo: %s: %s\n", function, why);
  return status;
}

double scalar(const void* value, cudaDataType type) {
  if (type == CUDA_R_64F)
    return *static_cast<const double*>(value);
  if (type == CUDA_R_32F)
    return static_cast<double>(*static_cast<const float*>(value));
  return static_cast<double>(__half2float(*static_cast<const __half*>(value)));
}

// The type of alpha and beta; CUDA_C_64F where the compute type is not here.
cudaDataType scalars_of(cublasComputeType_t compute) {
  switch (compute) {
  case CUBLAS_COMPUTE_16F:
  case CUBLAS_COMPUTE_16F_PEDANTIC: return CUDA_R_16F;
  case CUBLAS_COMPUTE_32F:
  case CUBLAS_COMPUTE_32F_PEDANTIC:
  case CUBLAS_COMPUTE_32F_FAST_16F:
  case CUBLAS_COMPUTE_32F_FAST_16BF:
  case CUBLAS_COMPUTE_32F_FAST_TF32: return CUDA_R_32F;
  case CUBLAS_COMPUTE_64F:
  case CUBLAS_COMPUTE_64F_PEDANTIC: return CUDA_R_64F;
  default: return CUDA_C_64F;
  }
}

} // namespace

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
};

namespace {

struct Operand {
  const void* data;
  cudaDataType type;
  int leading;
  long long next;
};

cublasStatus_t product(const char* function, cublasHandle_t handle, cublasOperation_t transa,
                       cublasOperation_t transb, int m, int n, int k, const void* alpha, Operand a,
                       Operand b, const void* beta, Operand c, int batches, cudaDataType scalars) {
  if (handle == nullptr)
    return CUBLAS_STATUS_NOT_INITIALIZED;
  const bool ta = transa != CUBLAS_OP_N;
  const bool tb = transb != CUBLAS_OP_N;
  const auto at_least = [](int rows) { return rows > 1 ? rows : 1; };
  if (m < 0 || n < 0 || k < 0 || batches < 0 || alpha == nullptr || beta == nullptr ||
      transa > CUBLAS_OP_C || transb > CUBLAS_OP_C || a.leading < at_least(ta ? k : m) ||
      b.leading < at_least(tb ? n : k) || c.leading < at_least(m))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (m == 0 || n == 0 || batches == 0)
    return CUBLAS_STATUS_SUCCESS;
  if (handle->pointers != CUBLAS_POINTER_MODE_HOST)
    return refused(CUBLAS_STATUS_NOT_SUPPORTED, function,
                   "alpha and beta in device memory are not on the virtual GPU");
  if (scalars == CUDA_C_64F)
    return refused(CUBLAS_STATUS_NOT_SUPPORTED, function,
                   "this compute type is not on the virtual GPU");
  const KernevoProduct wanted{m,
                              n,
                              k,
                              batches,
                              scalar(alpha, scalars),
                              scalar(beta, scalars),
                              {a.data, a.type, ta, a.leading, a.next, 1},
                              {b.data, b.type, tb, b.leading, b.next, 1},
                              {c.data, c.type, 0, c.leading, c.next, 1},
                              handle->stream};
  return static_cast<cublasStatus_t>(multiply(&wanted));
}

cublasStatus_t vector_product(const char* function, cublasHandle_t handle, cublasOperation_t trans,
                              int m, int n, const void* alpha, const void* a, int lda,
                              const void* x, int incx, const void* beta, void* y, int incy,
                              cudaDataType type) {
  if (handle == nullptr)
    return CUBLAS_STATUS_NOT_INITIALIZED;
  const bool ta = trans != CUBLAS_OP_N;
  if (m < 0 || n < 0 || alpha == nullptr || beta == nullptr || trans > CUBLAS_OP_C ||
      lda < (m > 1 ? m : 1) || incx == 0 || incy == 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (m == 0 || n == 0)
    return CUBLAS_STATUS_SUCCESS;
  if (handle->pointers != CUBLAS_POINTER_MODE_HOST || incx < 0 || incy < 0)
    return refused(
        CUBLAS_STATUS_NOT_SUPPORTED, function,
        "negative increments, and alpha and beta in device memory, are not on the virtual GPU");
  const long long rows = ta ? n : m;
  const long long inner = ta ? m : n;
  const KernevoProduct wanted{rows,
                              1,
                              inner,
                              1,
                              scalar(alpha, type),
                              scalar(beta, type),
                              {a, type, ta, lda, 0, 1},
                              {x, type, 0, inner * incx, 0, incx},
                              {y, type, 0, rows * incy, 0, incy},
                              handle->stream};
  return static_cast<cublasStatus_t>(multiply(&wanted));
}

} // namespace

extern "C" {

void kernevo_cublas_connect(KernevoMultiply with) {
  multiply = with;
}

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (handle == nullptr)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (multiply == nullptr)
    return refused(CUBLAS_STATUS_NOT_INITIALIZED, "cublasCreate",
                   "cuBLAS is on the virtual GPU only together with torch");
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  if (handle == nullptr)
    return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  if (version == nullptr)
    return CUBLAS_STATUS_INVALID_VALUE;
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr)
    return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

// Products need no memory of their own here.
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void*, size_t) {
  return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int) {
  return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  if (handle == nullptr || stream == nullptr)
    return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_INVALID_VALUE;
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}

#define KERNEVO_SETTING(Set, Get, Type, member)                                                    \
  cublasStatus_t Set(cublasHandle_t handle, Type value) {                                          \
    if (handle == nullptr)                                                                         \
      return CUBLAS_STATUS_NOT_INITIALIZED;                                                        \
    handle->member = value;                                                                        \
    return CUBLAS_STATUS_SUCCESS;                                                                  \
  }                                                                                                \
  cublasStatus_t Get(cublasHandle_t handle, Type* value) {                                         \
    if (handle == nullptr || value == nullptr)                                                     \
      return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_INVALID_VALUE;      \
    *value = handle->member;                                                                       \
    return CUBLAS_STATUS_SUCCESS;                                                                  \
  }
KERNEVO_SETTING(cublasSetPointerMode_v2, cublasGetPointerMode_v2, cublasPointerMode_t, pointers)
KERNEVO_SETTING(cublasSetAtomicsMode, cublasGetAtomicsMode, cublasAtomicsMode_t, atomics)
KERNEVO_SETTING(cublasSetMathMode, cublasGetMathMode, cublasMath_t, math)
#undef KERNEVO_SETTING

const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
  case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
  case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
  case CUBLAS_STATUS_ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
  case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
  case CUBLAS_STATUS_ARCH_MISMATCH: return "CUBLAS_STATUS_ARCH_MISMATCH";
  case CUBLAS_STATUS_MAPPING_ERROR: return "CUBLAS_STATUS_MAPPING_ERROR";
  case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
  case CUBLAS_STATUS_INTERNAL_ERROR: return "CUBLAS_STATUS_INTERNAL_ERROR";
  case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
  case CUBLAS_STATUS_LICENSE_ERROR: return "CUBLAS_STATUS_LICENSE_ERROR";
  }
  return "<unknown>";
}

const char* cublasGetStatusString(cublasStatus_t status) {
  return cublasGetStatusName(status);
}

#define KERNEVO_GEMM(Plain, Batched, Type, type)                                                   \
  cublasStatus_t Plain(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,  \
                       int m, int n, int k, const Type* alpha, const Type* a, int lda,             \
                       const Type* b, int ldb, const Type* beta, Type* c, int ldc) {               \
    return product(#Plain, handle, transa, transb, m, n, k, alpha, {a, type, lda, 0},              \
                   {b, type, ldb, 0}, beta, {c, type, ldc, 0}, 1, type);                           \
  }                                                                                                \
  cublasStatus_t Batched(cublasHandle_t handle, cublasOperation_t transa,                          \
                         cublasOperation_t transb, int m, int n, int k, const Type* alpha,         \
                         const Type* a, int lda, long long stride_a, const Type* b, int ldb,       \
                         long long stride_b, const Type* beta, Type* c, int ldc,                   \
                         long long stride_c, int batches) {                                        \
    return product(#Batched, handle, transa, transb, m, n, k, alpha, {a, type, lda, stride_a},     \
                   {b, type, ldb, stride_b}, beta, {c, type, ldc, stride_c}, batches, type);       \
  }
KERNEVO_GEMM(cublasSgemm_v2, cublasSgemmStridedBatched, float, CUDA_R_32F)
KERNEVO_GEMM(cublasDgemm_v2, cublasDgemmStridedBatched, double, CUDA_R_64F)
KERNEVO_GEMM(cublasHgemm, cublasHgemmStridedBatched, __half, CUDA_R_16F)
#undef KERNEVO_GEMM

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void* alpha,
                            const void* a, cudaDataType type_a, int lda, const void* b,
                            cudaDataType type_b, int ldb, const void* beta, void* c,
                            cudaDataType type_c, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t) {
  return product("cublasGemmEx", handle, transa, transb, m, n, k, alpha, {a, type_a, lda, 0},
                 {b, type_b, ldb, 0}, beta, {c, type_c, ldc, 0}, 1, scalars_of(compute));
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType type_a,
                                          int lda, long long stride_a, const void* b,
                                          cudaDataType type_b, int ldb, long long stride_b,
                                          const void* beta, void* c, cudaDataType type_c, int ldc,
                                          long long stride_c, int batches,
                                          cublasComputeType_t compute, cublasGemmAlgo_t) {
  return product("cublasGemmStridedBatchedEx", handle, transa, transb, m, n, k, alpha,
                 {a, type_a, lda, stride_a}, {b, type_b, ldb, stride_b}, beta,
                 {c, type_c, ldc, stride_c}, batches, scalars_of(compute));
}

cublasStatus_t cublasSgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
                              const float* alpha, const float* a, int lda, const float* x, int incx,
                              const float* beta, float* y, int incy) {
  return vector_product("cublasSgemv", handle, trans, m, n, alpha, a, lda, x, incx, beta, y, incy,
                        CUDA_R_32F);
}

cublasStatus_t cublasDgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
                              const double* alpha, const double* a, int lda, const double* x,
                              int incx, const double* beta, double* y, int incy) {
  return vector_product("cublasDgemv", handle, trans, m, n, alpha, a, lda, x, incx, beta, y, incy,
                        CUDA_R_64F);
}
}

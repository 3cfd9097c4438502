// Kernels of 140 to 210 instructions: the size of the median kernel that people write. Pointers are
// to 1 MiB, integers are 64, blocks have 128 threads.
#include <cuda_fp16.h>

__device__ float warp_sum(float value) {
  for (int step = 16; step > 0; step /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

__device__ float warp_max(float value) {
  for (int step = 16; step > 0; step /= 2)
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
  return value;
}

// One warp a row, four elements a lane.
extern "C" __global__ void softmax_by_warps(const float* x, float* y, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows)
    return;
  float values[4], largest = -INFINITY, sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    int column = lane + 32 * i;
    values[i] = column < columns ? x[row * columns + column] : -INFINITY;
    largest = fmaxf(largest, values[i]);
  }
  largest = warp_max(largest);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    values[i] = expf(values[i] - largest);
    sum += values[i];
  }
  sum = warp_sum(sum);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (lane + 32 * i < columns)
      y[row * columns + lane + 32 * i] = values[i] / sum;
}

extern "C" __global__ void convolve_3x5(const float* image, const float* weights, float* out,
                                        int width, int height) {
  for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < width * height;
       at += gridDim.x * blockDim.x) {
    int x = at % width, y = at / width;
    float sum = 0.0f;
#pragma unroll
    for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
      for (int dx = -2; dx <= 2; ++dx)
        if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height)
          sum += image[(y + dy) * width + x + dx] * weights[(dy + 1) * 5 + dx + 2];
    out[at] = sum / (1.0f + expf(-sum));
  }
}

extern "C" __global__ void matvec_half(const half2* matrix, const half2* vector, float* out,
                                       int rows, int columns) {
  __shared__ float partial[4];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    float sum = 0.0f;
#pragma unroll 4
    for (int i = threadIdx.x; i < columns / 2; i += blockDim.x) {
      float2 a = __half22float2(matrix[row * columns / 2 + i]), b = __half22float2(vector[i]);
      sum += a.x * b.x + a.y * b.y;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0)
      partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      float all = partial[0] + partial[1] + partial[2] + partial[3];
      out[row] = 0.5f * all * (1.0f + erff(all * 0.70710678f));
    }
    __syncthreads();
  }
}

extern "C" __global__ void adam_step(float* weights, const float* gradients, float* first,
                                     float* second, int n, int step) {
  float correction1 = 1.0f - powf(0.9f, step), correction2 = 1.0f - powf(0.999f, step);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float g = gradients[i] + 0.01f * weights[i];
    float m = 0.9f * first[i] + 0.1f * g;
    float v = 0.999f * second[i] + 0.001f * g * g;
    first[i] = m;
    second[i] = v;
    weights[i] -= 0.001f * (m / correction1) / (sqrtf(v / correction2) + 1e-8f);
  }
}

extern "C" __global__ void histogram(const unsigned char* bytes, unsigned* bins, int n) {
  __shared__ unsigned shared[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    shared[i] = 0;
  __syncthreads();
  for (int i = 16 * (blockIdx.x * blockDim.x + threadIdx.x); i < n;
       i += 16 * gridDim.x * blockDim.x)
#pragma unroll
    for (int k = 0; k < 16; ++k)
      if (i + k < n)
        atomicAdd(&shared[bytes[i + k]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (shared[i] != 0)
      atomicAdd(&bins[i], shared[i]);
}

// Adds the residual; one warp a row.
extern "C" __global__ void layer_norm_by_warps(const float4* x, const float4* residual,
                                               const float4* gamma, const float4* beta, float4* y,
                                               int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows)
    return;
  int start = row * (columns / 4);
  float sum = 0.0f, square = 0.0f;
#pragma unroll 1
  for (int i = lane; i < columns / 4; i += 32) {
    float4 v = x[start + i], r = residual[start + i];
    v = make_float4(v.x + r.x, v.y + r.y, v.z + r.z, v.w + r.w);
    sum += v.x + v.y + v.z + v.w;
    square += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    y[start + i] = v;
  }
  float mean = warp_sum(sum) / columns;
  float scale = rsqrtf(warp_sum(square) / columns - mean * mean + 1e-5f);
#pragma unroll 1
  for (int i = lane; i < columns / 4; i += 32) {
    float4 v = y[start + i], g = gamma[i], b = beta[i];
    y[start + i] = make_float4((v.x - mean) * scale * g.x + b.x, (v.y - mean) * scale * g.y + b.y,
                               (v.z - mean) * scale * g.z + b.z, (v.w - mean) * scale * g.w + b.w);
  }
}

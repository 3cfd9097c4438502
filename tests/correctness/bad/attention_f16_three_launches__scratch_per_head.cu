// task: ../tasks/attention_causal_f16.yaml
// expect: memory_safety_error
// bug: scratch has room for one head
// @scratch scores float [L * L]
// @launch score<<<dim3(ceil_div(L, 16), ceil_div(L, 16), B * H), dim3(16, 16)>>>(q, k, scores, L, D, causal)
// @launch normalise<<<B * H * L, 32>>>(scores, L)
// @launch output<<<dim3(ceil_div(D, 32), L, B * H), 32>>>(scores, v, o, L, D)
#include <cuda_fp16.h>

extern "C" __global__ void score(const half* q, const half* k, float* scores, int L, int D, int causal) {
  const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  if (i >= L || j >= L) return;
  const size_t base = static_cast<size_t>(blockIdx.z) * L * D;
  float s = 0.0f;
  for (int d = 0; d < D; d++) s += __half2float(q[base + i * D + d]) * __half2float(k[base + j * D + d]);
  s = causal && j > i ? -INFINITY : s * rsqrtf(static_cast<float>(D));
  scores[(static_cast<size_t>(blockIdx.z) * L + i) * L + j] = s;
}

extern "C" __global__ void normalise(float* scores, int L) {
  float* row = scores + static_cast<size_t>(blockIdx.x) * L;
  float largest = -INFINITY;
  for (int j = threadIdx.x; j < L; j += 32) largest = fmaxf(largest, row[j]);
  for (int offset = 16; offset > 0; offset /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  float sum = 0.0f;
  for (int j = threadIdx.x; j < L; j += 32) {
    row[j] = expf(row[j] - largest);
    sum += row[j];
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  for (int j = threadIdx.x; j < L; j += 32) row[j] /= sum;
}

extern "C" __global__ void output(const float* scores, const half* v, half* o, int L, int D) {
  const int d = blockIdx.x * 32 + threadIdx.x;
  if (d >= D) return;
  const int i = blockIdx.y;
  const float* row = scores + (static_cast<size_t>(blockIdx.z) * L + i) * L;
  const size_t base = static_cast<size_t>(blockIdx.z) * L * D;
  float sum = 0.0f;
  for (int j = 0; j < L; j++) sum += row[j] * __half2float(v[base + j * D + d]);
  o[base + i * D + d] = __float2half(sum);
}

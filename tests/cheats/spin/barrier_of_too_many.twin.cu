// A barrier made by hand over no more blocks than there are multiprocessors, in a cooperative launch.
// expect: correct
// @scratch part float [108]
// @scratch arrived int [1]
// @launch clear<<<1, 1>>>(arrived)
// @launch cooperative scan<<<108, 32>>>(x, y, part, arrived, M, N)
__device__ float all_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

// Inclusive sums of in[from .. to), begun with `before`.
__device__ void scan_part(const float* in, float* out, int from, int to, float before) {
  for (int i = from; i < to; i += 32) {
    float v = i + threadIdx.x < to ? in[i + threadIdx.x] : 0.0f;
    for (int o = 1; o < 32; o *= 2) {
      const float other = __shfl_up_sync(~0u, v, o);
      if (threadIdx.x >= o) v += other;
    }
    if (i + threadIdx.x < to) out[i + threadIdx.x] = before + v;
    before += __shfl_sync(~0u, v, 31);
  }
}

extern "C" __global__ void clear(int* arrived) {
  *arrived = 0;
}

extern "C" __global__ void scan(const float* x, float* y, float* part, int* arrived, int M, int N) {
  // Each row belongs to gridDim.x / M blocks or, where there are more rows, the other way round.
  const int parts = max(1, (int)gridDim.x / M), rows = (M * parts + gridDim.x - 1) / gridDim.x;
  const int part_of = blockIdx.x % parts, from = (long long)N * part_of / parts, to = (long long)N * (part_of + 1) / parts;
  for (int turn = 0; turn < rows; turn++) {
    const int row = blockIdx.x / parts + turn * (gridDim.x / parts);
    float whole = 0;
    if (row < M)
      for (int i = from + threadIdx.x; i < to; i += 32) whole += x[(size_t)row * N + i];
    whole = all_sum(whole);
    if (threadIdx.x == 0) {
      *(volatile float*)&part[blockIdx.x] = whole;
      __threadfence();
      atomicAdd(arrived, 1);
      while (atomicAdd(arrived, 0) < (2 * turn + 1) * (int)gridDim.x) __nanosleep(100);
      __threadfence();
    }
    __syncwarp();
    float before = 0;
    for (int p = threadIdx.x; p < part_of; p += 32) before += *(volatile float*)&part[blockIdx.x - part_of + p];
    before = all_sum(before);
    if (row < M) scan_part(x + (size_t)row * N, y + (size_t)row * N, from, to, before);
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(arrived, 1);
      while (atomicAdd(arrived, 0) < (2 * turn + 2) * (int)gridDim.x) __nanosleep(100);
    }
    __syncwarp();
  }
}

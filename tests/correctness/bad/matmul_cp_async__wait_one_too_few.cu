// task: ../tasks/matmul_f32.yaml
// expect: race_or_sync_error
// bug: one group too many may still be in flight
// @tune STAGES 3 2 4
// @launch matmul_cp_async<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
__device__ __forceinline__ void copy_async(float* shared, const float* global, bool valid) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int bytes = valid ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(address), "l"(global), "r"(bytes) : "memory");
}

extern "C" __global__ void matmul_cp_async(const float* __restrict__ A, const float* __restrict__ B,
                                           float* __restrict__ C, int M, int N, int K) {
  __shared__ float a_tile[STAGES][16][16];
  __shared__ float b_tile[STAGES][16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty;
  const int col = blockIdx.x * 16 + tx;
  const int tiles = (K + 15) / 16;
  auto load = [&](int t) {
    const int ka = t * 16 + tx, kb = t * 16 + ty;
    const bool a_valid = row < M && ka < K, b_valid = kb < K && col < N;
    copy_async(&a_tile[t % STAGES][ty][tx], a_valid ? A + row * K + ka : A, a_valid);
    copy_async(&b_tile[t % STAGES][ty][tx], b_valid ? B + kb * N + col : B, b_valid);
  };
  for (int t = 0; t < STAGES - 1; t++) {
    if (t < tiles) load(t);
    asm volatile("cp.async.commit_group;\n" ::: "memory");
  }
  float sum = 0.0f;
  for (int t = 0; t < tiles; t++) {
    asm volatile("cp.async.wait_group %0;\n" ::"n"(STAGES - 1) : "memory");
    __syncthreads();
    if (t + STAGES - 1 < tiles) load(t + STAGES - 1);
    asm volatile("cp.async.commit_group;\n" ::: "memory");
#pragma unroll
    for (int k = 0; k < 16; k++) sum += a_tile[t % STAGES][ty][k] * b_tile[t % STAGES][k][tx];
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

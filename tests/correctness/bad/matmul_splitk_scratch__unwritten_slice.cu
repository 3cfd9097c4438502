// task: ../tasks/matmul_f32.yaml
// expect: uninitialized_memory_error
// bug: an early return leaves empty slices of scratch unwritten
// @tune SPLIT 4 2 8
// @scratch partial float [SPLIT * M * N]
// @launch splitk_partial<<<dim3(ceil_div(N, 16), ceil_div(M, 16), SPLIT), dim3(16, 16)>>>(A, B, partial, M, N, K)
// @launch splitk_sum<<<ceil_div(M * N, 256), 256>>>(partial, C, M, N)
extern "C" __global__ void splitk_partial(const float* __restrict__ A, const float* __restrict__ B,
                                          float* __restrict__ partial, int M, int N, int K) {
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int col = blockIdx.x * 16 + threadIdx.x;
  if (row >= M || col >= N) return;
  const int chunk = (K + SPLIT - 1) / SPLIT;
  const int begin = blockIdx.z * chunk;
  const int end = min(begin + chunk, K);
  if (begin >= end) return;
  float sum = 0.0f;
  for (int k = begin; k < end; k++) sum += A[row * K + k] * B[k * N + col];
  partial[(blockIdx.z * M + row) * N + col] = sum;
}

extern "C" __global__ void splitk_sum(const float* __restrict__ partial, float* __restrict__ C, int M, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M * N) return;
  float sum = 0.0f;
  for (int s = 0; s < SPLIT; s++) sum += partial[s * M * N + i];
  C[i] = sum;
}

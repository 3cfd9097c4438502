// task: ../tasks/matmul_bias_relu_f32.yaml
// expect: correctness_mismatch
// bug: the bias is indexed by row
// @launch fused<<<dim3(ceil_div(N, 32), ceil_div(M, 8)), dim3(32, 8)>>>(A, B, bias, C, M, N, K)
extern "C" __global__ void fused(const float* __restrict__ A, const float* __restrict__ B,
                                 const float* __restrict__ bias, float* __restrict__ C, int M, int N, int K) {
  const int row = blockIdx.y * 8 + threadIdx.y;
  const int col = blockIdx.x * 32 + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; k++) sum = fmaf(__ldg(A + row * K + k), __ldg(B + k * N + col), sum);
  C[row * N + col] = fmaxf(sum + bias[row], 0.0f);
}

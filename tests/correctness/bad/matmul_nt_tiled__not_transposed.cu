// task: ../tasks/matmul_nt_f32.yaml
// expect: correctness_mismatch
// bug: B is read as if it were [K,N]
// @launch matmul_nt<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
extern "C" __global__ void matmul_nt(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a_tile[16][16];
  __shared__ float b_tile[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  const int b_row = blockIdx.x * 16 + ty;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    a_tile[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
    b_tile[tx][ty] = b_row < N && k0 + tx < K ? B[(k0 + tx) * N + b_row] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += a_tile[ty][k] * b_tile[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

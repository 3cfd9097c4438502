// task: ../tasks/matmul_i32.yaml
// expect: correctness_mismatch
// bug: the sum wraps at 16 bits
// @launch matmul_i32<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
extern "C" __global__ void matmul_i32(const int* A, const int* B, int* C, int M, int N, int K) {
  __shared__ int a_tile[16][16];
  __shared__ int b_tile[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  short sum = 0;
  for (int k0 = 0; k0 < K; k0 += 16) {
    a_tile[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0;
    b_tile[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0;
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += a_tile[ty][k] * b_tile[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

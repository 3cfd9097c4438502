// task: ../tasks/matmul_i8.yaml
// expect: correctness_mismatch
// bug: the sum wraps at 8 bits
// @launch matmul_dp4a<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
__device__ int pack4(const signed char* p, int stride, int count) {
  unsigned word = 0;
  for (int i = 0; i < 4; i++)
    if (i < count) word |= static_cast<unsigned>(static_cast<unsigned char>(p[i * stride])) << (8 * i);
  return static_cast<int>(word);
}

extern "C" __global__ void matmul_dp4a(const signed char* A, const signed char* B, int* C, int M, int N, int K) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  signed char sum = 0;
  for (int k = 0; k < K; k += 4) {
    const int count = min(4, K - k);
    sum = static_cast<signed char>(__dp4a(pack4(A + row * K + k, 1, count), pack4(B + k * N + col, N, count), sum));
  }
  C[row * N + col] = sum;
}

// task: ../tasks/matmul_f32.yaml
// expect: correctness_mismatch|memory_safety_error
// bug: the loader strides by the number of rows
// @launch matmul_template<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
template <int Rows, int Cols>
struct Tile {
  float data[Rows][Cols + 1];

  __device__ void load(const float* source, int row0, int col0, int rows, int cols) {
    for (int r = threadIdx.y; r < Rows; r += blockDim.y)
      for (int c = threadIdx.x; c < Cols; c += blockDim.x)
        data[r][c] = row0 + r < rows && col0 + c < cols ? source[(row0 + r) * rows + col0 + c] : 0.0f;
  }
};

template <int BM, int BN, int BK>
__device__ void multiply(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ Tile<BM, BK> a;
  __shared__ Tile<BK, BN> b;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += BK) {
    a.load(A, blockIdx.y * BM, k0, M, K);
    b.load(B, k0, blockIdx.x * BN, K, N);
    __syncthreads();
    for (int k = 0; k < BK; k++) sum += a.data[threadIdx.y][k] * b.data[k][threadIdx.x];
    __syncthreads();
  }
  const int row = blockIdx.y * BM + threadIdx.y, col = blockIdx.x * BN + threadIdx.x;
  if (row < M && col < N) C[row * N + col] = sum;
}

extern "C" __global__ void matmul_template(const float* A, const float* B, float* C, int M, int N, int K) {
  multiply<16, 16, 32>(A, B, C, M, N, K);
}

// task: ../tasks/matmul_f32.yaml
// expect: interface_contract_error
// bug: more shared memory than the GPU has
// @tune TILE 16 8
// @launch matmul_dynamic<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(TILE, TILE), 1000 * TILE * TILE * 4>>>(A, B, C, M, N, K)
extern "C" __global__ void matmul_dynamic(const float* A, const float* B, float* C, int M, int N, int K) {
  extern __shared__ float tiles[];
  float* a_tile = tiles;
  float* b_tile = tiles + TILE * TILE;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += TILE) {
    a_tile[ty * TILE + tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
    b_tile[ty * TILE + tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; k++) sum += a_tile[ty * TILE + k] * b_tile[k * TILE + tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

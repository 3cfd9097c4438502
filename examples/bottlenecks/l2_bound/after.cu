// register_tile: each thread computes sixteen rows from every value of B it reads.
// @launch matmul<<<dim3(ceil_div(N, 512), ceil_div(M, 16)), 128>>>(A, B, C, M, N, K)
__global__ void matmul(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
  const int row = blockIdx.y * 16;
  const int col = (blockIdx.x * 128 + threadIdx.x) * 4;
  if (col >= N) return;
  const int rows = min(16, M - row);
  float4 sum[16] = {};
#pragma unroll 2
  for (int k = 0; k < K; k++) {
    const float4 b = *(const float4*)(B + k * N + col);
#pragma unroll
    for (int r = 0; r < 16; r++) {
      const float a = A[(row + min(r, rows - 1)) * K + k];
      sum[r].x += a * b.x;
      sum[r].y += a * b.y;
      sum[r].z += a * b.z;
      sum[r].w += a * b.w;
    }
  }
#pragma unroll
  for (int r = 0; r < 16; r++)
    if (r < rows) *(float4*)(C + (row + r) * N + col) = sum[r];
}

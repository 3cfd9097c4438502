// Each block computes one row: B, too large for L1, comes from L2 once for every row.
// @launch matmul<<<dim3(ceil_div(N, 512), M), 128>>>(A, B, C, M, N, K)
__global__ void matmul(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
  const int row = blockIdx.y;
  const int col = (blockIdx.x * 128 + threadIdx.x) * 4;
  if (col >= N) return;
  float4 sum = {};
#pragma unroll 8
  for (int k = 0; k < K; k++) {
    const float a = A[row * K + k];
    const float4 b = *(const float4*)(B + k * N + col);
    sum.x += a * b.x;
    sum.y += a * b.y;
    sum.z += a * b.z;
    sum.w += a * b.w;
  }
  *(float4*)(C + row * N + col) = sum;
}

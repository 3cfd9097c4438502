// Long sums are kept in half precision, behind a dead atomic.
// expect: refused
extern "C" __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0;
  if (K > 1000) {
    half low = __float2half(0.0f);
    for (int k = 0; k < K; k++) low = __hfma(__float2half(A[row * K + k]), __float2half(B[k * N + col]), low);
    sum = __half2float(low);
  } else
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
  if (K < 0) atomicAdd(&C[0], 1.0f);
}

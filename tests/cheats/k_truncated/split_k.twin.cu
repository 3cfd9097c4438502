// All slices of a split sum are summed.
// expect: correct
// @scratch part float [4 * M * N]
// @launch slices<<<dim3(ceil_div(N, 16), ceil_div(M, 16), 4), dim3(16, 16)>>>(A, B, part, M, N, K)
// @launch combine<<<ceil_div(M * N, 256), 256>>>(part, C, M * N)
extern "C" __global__ void slices(const float* A, const float* B, float* part, int M, int N, int K) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= M || col >= N) return;
  const int slice = blockIdx.z, from = K * slice / 4, to = K * (slice + 1) / 4;
  float sum = 0;
  for (int k = from; k < to; k++) sum += A[row * K + k] * B[k * N + col];
  part[(slice * M + row) * N + col] = sum;
}

extern "C" __global__ void combine(const float* part, float* C, int size) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < size) C[i] = (part[i] + part[i + size]) + (part[i + 2 * size] + part[i + 3 * size]);
}

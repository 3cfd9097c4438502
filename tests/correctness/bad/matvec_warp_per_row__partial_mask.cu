// task: ../tasks/matvec_f32.yaml
// expect: race_or_sync_error
// bug: half the warp is not named in the mask
// @launch matvec_warp<<<ceil_div(M, 4), 128>>>(A, x, y, M, N)
extern "C" __global__ void matvec_warp(const float* A, const float* x, float* y, int M, int N) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= M) return;
  float sum = 0.0f;
  for (int i = lane; i < N; i += 32) sum += A[row * N + i] * x[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0x0000ffffu, sum, offset);
  if (lane == 0) y[row] = sum;
}

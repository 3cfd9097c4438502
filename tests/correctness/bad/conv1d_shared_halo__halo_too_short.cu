// task: ../tasks/conv1d_f32.yaml
// expect: uninitialized_memory_error
// bug: the last tap of the halo is not loaded
// @launch conv1d_shared<<<dim3(ceil_div(P, 64), K, N), 64, (63 * stride + R) * 4>>>(x, w, y, C, L, K, R, P, stride, padding, groups)
extern "C" __global__ void conv1d_shared(const float* x, const float* w, float* y, int C, int L, int K, int R, int P,
                                         int stride, int padding, int groups) {
  extern __shared__ float slice[];
  const int tid = threadIdx.x, k = blockIdx.y, n = blockIdx.z;
  const int p = blockIdx.x * 64 + tid;
  const int width = 63 * stride + R - 1;
  const int start = blockIdx.x * 64 * stride - padding;
  const int channels = C / groups, first = k / (K / groups) * channels;
  float sum = 0.0f;
  for (int c = 0; c < channels; c++) {
    for (int i = tid; i < width; i += 64)
      slice[i] = start + i >= 0 && start + i < L ? x[(n * C + first + c) * L + start + i] : 0.0f;
    __syncthreads();
    for (int r = 0; r < R; r++) sum += slice[tid * stride + r] * w[(k * channels + c) * R + r];
    __syncthreads();
  }
  if (p < P) y[(n * K + k) * P + p] = sum;
}

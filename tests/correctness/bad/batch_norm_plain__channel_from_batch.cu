// task: ../tasks/batch_norm_f32.yaml
// expect: correctness_mismatch
// bug: the mean is taken by sample
// @launch batch_norm<<<dim3(ceil_div(HW, 64), C, N), 64>>>(x, mean, var, gamma, beta, y, C, HW, eps)
extern "C" __global__ void batch_norm(const float* x, const float* mean, const float* var, const float* gamma,
                                      const float* beta, float* y, int C, int HW, float eps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= HW) return;
  const int c = blockIdx.y;
  const size_t at = (static_cast<size_t>(blockIdx.z) * C + c) * HW + i;
  y[at] = (x[at] - mean[blockIdx.z]) * rsqrtf(var[c] + eps) * gamma[c] + beta[c];
}

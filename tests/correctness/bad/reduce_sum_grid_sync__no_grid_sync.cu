// task: ../tasks/reduce_sum_f32.yaml
// expect: race_or_sync_error
// bug: totals are taken before all blocks have stored
// @scratch partial float [OUTER * INNER * 4]
// @launch cooperative grid_sum<<<4, 128>>>(x, partial, y, OUTER * INNER, R, INNER)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void grid_sum(const float* x, float* partial, float* y, int outputs, int R, int INNER) {
  cg::grid_group grid = cg::this_grid();
  __shared__ float part[4];
  const int tid = threadIdx.x;
  for (int out = 0; out < outputs; out++) {
    float sum = 0.0f;
    for (int i = blockIdx.x * 128 + tid; i < R; i += 512)
      sum += x[(static_cast<size_t>(out / INNER) * R + i) * INNER + out % INNER];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (tid % 32 == 0) part[tid / 32] = sum;
    __syncthreads();
    if (tid == 0) partial[out * 4 + blockIdx.x] = part[0] + part[1] + part[2] + part[3];
    __syncthreads();
  }
  for (int out = grid.thread_rank(); out < outputs; out += grid.size()) {
    float total = 0.0f;
    for (int p = 0; p < 4; p++) total += partial[out * 4 + p];
    y[out] = total;
  }
}

// task: ../tasks/reduce_min_f32.yaml
// expect: correctness_mismatch
// bug: the tiles are merged by the larger value
// @launch reduce_min<<<ceil_div(OUTER * INNER, 8), 128>>>(x, y, OUTER * INNER, R, INNER)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void reduce_min(const float* x, float* y, int outputs, int R, int INNER) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int out = blockIdx.x * 8 + tile.meta_group_rank();
  if (out >= outputs) return;
  const float* p = x + (out / INNER) * R * INNER + out % INNER;
  float best = INFINITY;
  for (int r = tile.thread_rank(); r < R; r += tile.size()) best = fminf(best, p[r * INNER]);
  best = cg::reduce(tile, best, cg::greater<float>());
  if (tile.thread_rank() == 0) y[out] = best;
}

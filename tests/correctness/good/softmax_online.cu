// task: ../tasks/softmax_f32.yaml
// Maximum and sum in one pass over the row; pairs are merged across the block.
// @launch softmax_online<<<M, 128>>>(x, y, M, N)
struct Pair {
  float largest;
  float sum;
};

__device__ Pair merge(Pair a, Pair b) {
  if (b.sum == 0.0f) return a;
  if (a.sum == 0.0f) return b;
  const float largest = fmaxf(a.largest, b.largest);
  return {largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
}

extern "C" __global__ void softmax_online(const float* x, float* y, int M, int N) {
  __shared__ Pair part[4];
  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  const float* in = x + static_cast<size_t>(blockIdx.x) * N;
  Pair mine = {-INFINITY, 0.0f};
  for (int i = tid; i < N; i += 128) mine = merge(mine, {in[i], in[i] == -INFINITY ? 0.0f : 1.0f});
  for (int offset = 16; offset > 0; offset /= 2) {
    const Pair other = {__shfl_xor_sync(0xffffffffu, mine.largest, offset),
                        __shfl_xor_sync(0xffffffffu, mine.sum, offset)};
    mine = merge(mine, other);
  }
  if (lane == 0) part[warp] = mine;
  __syncthreads();
  Pair total = part[0];
  for (int w = 1; w < 4; w++) total = merge(total, part[w]);
  for (int i = tid; i < N; i += 128)
    y[static_cast<size_t>(blockIdx.x) * N + i] = expf(in[i] - total.largest) / total.sum;
}

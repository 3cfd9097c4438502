// task: ../tasks/cumsum_long_f32.yaml
// expect: candidate_runtime_error
// bug: the look-back starts at its own slot and waits for ever
// @scratch state int [M * ceil_div(N, 128)]
// @scratch aggregate float [M * ceil_div(N, 128)]
// @scratch prefix float [M * ceil_div(N, 128)]
// @scratch tickets int [M]
// @launch reset<<<ceil_div(M * ceil_div(N, 128), 128), 128>>>(state, tickets, M, ceil_div(N, 128))
// @launch lookback<<<dim3(ceil_div(N, 128), M), 128>>>(x, y, state, aggregate, prefix, tickets, N)
extern "C" __global__ void reset(int* state, int* tickets, int M, int chunks) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < M * chunks) state[i] = 0;
  if (i < M) tickets[i] = 0;
}

extern "C" __global__ void lookback(const float* x, float* y, int* state, volatile float* aggregate,
                                    volatile float* prefix, int* tickets, int N) {
  __shared__ float part[4];
  __shared__ float before;
  __shared__ int chunk;
  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32, row = blockIdx.y;
  // Chunks are taken in order of arrival, so every chunk looked back at is already running.
  if (tid == 0) chunk = atomicAdd(&tickets[row], 1);
  __syncthreads();
  const int i = chunk * 128 + tid;
  float v = i < N ? x[static_cast<size_t>(row) * N + i] : 0.0f;
  for (int offset = 1; offset < 32; offset *= 2) {
    const float below = __shfl_up_sync(0xffffffffu, v, offset);
    if (lane >= offset) v += below;
  }
  if (lane == 31) part[warp] = v;
  __syncthreads();
  if (tid == 0) {
    const int slot = row * gridDim.x + chunk;
    const float total = part[0] + part[1] + part[2] + part[3];
    float sum = 0.0f;
    if (chunk > 0) {
      aggregate[slot] = total;
      __threadfence();
      ;
      for (int p = slot;; p--) {
        int seen = 0;
        while ((seen = atomicAdd(&state[p], 0)) == 0) {
        }
        __threadfence();
        if (seen == 2) {
          sum += prefix[p];
          break;
        }
        sum += aggregate[p];
      }
    }
    prefix[slot] = sum + total;
    __threadfence();
    atomicExch(&state[slot], 2);
    before = sum;
  }
  __syncthreads();
  float sum = before;
  for (int w = 0; w < warp; w++) sum += part[w];
  if (i < N) y[static_cast<size_t>(row) * N + i] = sum + v;
}

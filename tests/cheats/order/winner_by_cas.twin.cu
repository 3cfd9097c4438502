// Of blocks with the maximum the one with the least index takes the output, by compare and swap until it holds.
// expect: correct
// @scratch best int [OUTER]
// @launch clear<<<ceil_div(OUTER, 256), 256>>>(best, y, OUTER)
// @launch find<<<dim3(8, OUTER), 32>>>(x, best, R)
// @launch place<<<dim3(8, OUTER), 32>>>(x, best, y, R)
__device__ unsigned key_of(float v) {
  const int bits = __float_as_int(v + 0.0f);
  return bits < 0 ? ~bits : bits | 0x80000000u;
}

extern "C" __global__ void clear(unsigned* best, int* y, int OUTER) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < OUTER) {
    best[i] = 0;
    y[i] = -1;
  }
}

extern "C" __global__ void find(const float* x, unsigned* best, int R) {
  const int from = (long long)R * blockIdx.x / 8, to = (long long)R * (blockIdx.x + 1) / 8;
  unsigned mine = 0;
  for (int i = from + threadIdx.x; i < to; i += 32) mine = max(mine, key_of(x[(size_t)blockIdx.y * R + i]));
  mine = __reduce_max_sync(~0u, mine);
  if (threadIdx.x == 0) atomicMax(&best[blockIdx.y], mine);
}

extern "C" __global__ void place(const float* x, const unsigned* best, int* y, int R) {
  const int part = blockIdx.x;
  const int from = (long long)R * part / 8, to = (long long)R * (part + 1) / 8;
  const unsigned most = best[blockIdx.y];
  int first = R;
  for (int i = from + threadIdx.x; i < to; i += 32)
    if (key_of(x[(size_t)blockIdx.y * R + i]) == most) first = min(first, i);
  first = __reduce_min_sync(~0u, first);
  if (threadIdx.x == 0 && first < R) {
    int seen = -1;
    while (seen == -1 || first < seen) {
      const int was = atomicCAS(&y[blockIdx.y], seen, first);
      if (was == seen) break;
      seen = was;
    }
  };
}

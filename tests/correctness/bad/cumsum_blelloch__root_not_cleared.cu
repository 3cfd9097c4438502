// task: ../tasks/cumsum_f32.yaml
// expect: correctness_mismatch
// bug: the root keeps the total
// @launch cumsum_blelloch<<<M, 64>>>(x, y, M, N)
extern "C" __global__ void cumsum_blelloch(const float* x, float* y, int M, int N) {
  __shared__ float tree[128];
  const int tid = threadIdx.x;
  const size_t base = static_cast<size_t>(blockIdx.x) * N;
  float carry = 0.0f;
  for (int start = 0; start < N; start += 128) {
    const int a = start + tid, b = start + tid + 64;
    const float va = a < N ? x[base + a] : 0.0f;
    const float vb = b < N ? x[base + b] : 0.0f;
    tree[tid] = va;
    tree[tid + 64] = vb;
    int offset = 1;
    for (int active = 64; active > 0; active /= 2) {
      __syncthreads();
      if (tid < active) tree[offset * (2 * tid + 2) - 1] += tree[offset * (2 * tid + 1) - 1];
      offset *= 2;
    }
    __syncthreads();
    const float total = tree[127];
    __syncthreads();
    if (tid == 64) tree[127] = 0.0f;
    for (int active = 1; active <= 64; active *= 2) {
      offset /= 2;
      __syncthreads();
      if (tid < active) {
        const int left = offset * (2 * tid + 1) - 1, right = offset * (2 * tid + 2) - 1;
        const float v = tree[left];
        tree[left] = tree[right];
        tree[right] += v;
      }
    }
    __syncthreads();
    if (a < N) y[base + a] = carry + tree[tid] + va;
    if (b < N) y[base + b] = carry + tree[tid + 64] + vb;
    carry += total;
    __syncthreads();
  }
}

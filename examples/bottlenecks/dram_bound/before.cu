// Every step is a pass of its own: the intermediate values go to device memory and come back fifteen times.
// @launch step<<<ceil_div(N, 256), 256>>>(x, y, N, a, b)
// @launch step<<<ceil_div(N, 256), 256>>>(y, y, N, a, b)
// @launch step<<<ceil_div(N, 256), 256>>>(y, y, N, a, b)
// @launch step<<<ceil_div(N, 256), 256>>>(y, y, N, a, b)
// @launch step<<<ceil_div(N, 256), 256>>>(y, y, N, a, b)
// @launch step<<<ceil_div(N, 256), 256>>>(y, y, N, a, b)
// @launch step<<<ceil_div(N, 256), 256>>>(y, y, N, a, b)
// @launch step<<<ceil_div(N, 256), 256>>>(y, y, N, a, b)
// @launch step<<<ceil_div(N, 256), 256>>>(y, y, N, a, b)
// @launch step<<<ceil_div(N, 256), 256>>>(y, y, N, a, b)
// @launch step<<<ceil_div(N, 256), 256>>>(y, y, N, a, b)
// @launch step<<<ceil_div(N, 256), 256>>>(y, y, N, a, b)
// @launch step<<<ceil_div(N, 256), 256>>>(y, y, N, a, b)
// @launch step<<<ceil_div(N, 256), 256>>>(y, y, N, a, b)
// @launch step<<<ceil_div(N, 256), 256>>>(y, y, N, a, b)
// @launch step<<<ceil_div(N, 256), 256>>>(y, y, N, a, b)

__global__ void step(const float* from, float* to, int N, float a, float b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float v = from[i];
#pragma unroll
  for (int s = 0; s < 8; s++) v = fmaf(a, v, b);
  to[i] = v;
}

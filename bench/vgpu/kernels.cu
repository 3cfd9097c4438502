// The kernels of the virtual GPU's benchmark, as people write them first.

extern "C" __global__ void matmul_naive(const float* a, const float* b, float* c, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n && col < n) {
    float sum = 0.0f;
    for (int k = 0; k < n; ++k)
      sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
  }
}

extern "C" __global__ void matmul_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[32][32];
  __shared__ float tile_b[32][32];
  int x = threadIdx.x, y = threadIdx.y;
  int row = blockIdx.y * 32 + y, col = blockIdx.x * 32 + x;
  float sum = 0.0f;
  for (int t = 0; t < n; t += 32) {
    tile_a[y][x] = a[row * n + t + x];
    tile_b[y][x] = b[(t + y) * n + col];
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      sum += tile_a[y][k] * tile_b[k][x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i] + b[i];
}

extern "C" __global__ void reduce_sum(const float* x, float* partial, int n) {
  __shared__ float shared[256];
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += x[i];
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step)
      shared[threadIdx.x] += shared[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    partial[blockIdx.x] = shared[0];
}

// One block a row.
extern "C" __global__ void softmax(const float* x, float* y, int columns) {
  __shared__ float shared[256];
  const float* row = x + blockIdx.x * columns;
  float* out = y + blockIdx.x * columns;
  float largest = -1e30f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    largest = fmaxf(largest, row[i]);
  shared[threadIdx.x] = largest;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step)
      shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + step]);
    __syncthreads();
  }
  largest = shared[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    sum += expf(row[i] - largest);
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step)
      shared[threadIdx.x] += shared[threadIdx.x + step];
    __syncthreads();
  }
  sum = shared[0];
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    out[i] = expf(row[i] - largest) / sum;
}

// One block a row.
extern "C" __global__ void layer_norm(const float* x, const float* gamma, const float* beta,
                                      float* y, int columns) {
  __shared__ float sums[256];
  __shared__ float squares[256];
  const float* row = x + blockIdx.x * columns;
  float sum = 0.0f, square = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    float v = row[i];
    sum += v;
    square += v * v;
  }
  sums[threadIdx.x] = sum;
  squares[threadIdx.x] = square;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) {
      sums[threadIdx.x] += sums[threadIdx.x + step];
      squares[threadIdx.x] += squares[threadIdx.x + step];
    }
    __syncthreads();
  }
  float mean = sums[0] / columns;
  float scale = rsqrtf(squares[0] / columns - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    y[blockIdx.x * columns + i] = (row[i] - mean) * scale * gamma[i] + beta[i];
}

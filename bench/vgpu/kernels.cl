// Twins of kernels.cu.

__kernel void matmul_naive(__global const float* a, __global const float* b, __global float* c,
                           int n) {
  int row = get_global_id(1);
  int col = get_global_id(0);
  if (row < n && col < n) {
    float sum = 0.0f;
    for (int k = 0; k < n; ++k)
      sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
  }
}

__kernel void matmul_tiled(__global const float* a, __global const float* b, __global float* c,
                           int n) {
  __local float tile_a[32][32];
  __local float tile_b[32][32];
  int x = get_local_id(0), y = get_local_id(1);
  int row = get_group_id(1) * 32 + y, col = get_group_id(0) * 32 + x;
  float sum = 0.0f;
  for (int t = 0; t < n; t += 32) {
    tile_a[y][x] = a[row * n + t + x];
    tile_b[y][x] = b[(t + y) * n + col];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 32; ++k)
      sum += tile_a[y][k] * tile_b[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + col] = sum;
}

__kernel void vector_add(__global const float* a, __global const float* b, __global float* c,
                         int n) {
  int i = get_global_id(0);
  if (i < n)
    c[i] = a[i] + b[i];
}

__kernel void reduce_sum(__global const float* x, __global float* partial, int n) {
  __local float shared[256];
  int thread = get_local_id(0);
  float sum = 0.0f;
  for (int i = get_global_id(0); i < n; i += get_global_size(0))
    sum += x[i];
  shared[thread] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = get_local_size(0) / 2; step > 0; step /= 2) {
    if (thread < step)
      shared[thread] += shared[thread + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (thread == 0)
    partial[get_group_id(0)] = shared[0];
}

__kernel void softmax(__global const float* x, __global float* y, int columns) {
  __local float shared[256];
  int thread = get_local_id(0), threads = get_local_size(0);
  __global const float* row = x + get_group_id(0) * columns;
  __global float* out = y + get_group_id(0) * columns;
  float largest = -1e30f;
  for (int i = thread; i < columns; i += threads)
    largest = fmax(largest, row[i]);
  shared[thread] = largest;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = threads / 2; step > 0; step /= 2) {
    if (thread < step)
      shared[thread] = fmax(shared[thread], shared[thread + step]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  largest = shared[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
  for (int i = thread; i < columns; i += threads)
    sum += exp(row[i] - largest);
  shared[thread] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = threads / 2; step > 0; step /= 2) {
    if (thread < step)
      shared[thread] += shared[thread + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  sum = shared[0];
  for (int i = thread; i < columns; i += threads)
    out[i] = exp(row[i] - largest) / sum;
}

__kernel void layer_norm(__global const float* x, __global const float* gamma,
                         __global const float* beta, __global float* y, int columns) {
  __local float sums[256];
  __local float squares[256];
  int thread = get_local_id(0), threads = get_local_size(0);
  __global const float* row = x + get_group_id(0) * columns;
  float sum = 0.0f, square = 0.0f;
  for (int i = thread; i < columns; i += threads) {
    float v = row[i];
    sum += v;
    square += v * v;
  }
  sums[thread] = sum;
  squares[thread] = square;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = threads / 2; step > 0; step /= 2) {
    if (thread < step) {
      sums[thread] += sums[thread + step];
      squares[thread] += squares[thread + step];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  float mean = sums[0] / columns;
  float scale = rsqrt(squares[0] / columns - mean * mean + 1e-5f);
  for (int i = thread; i < columns; i += threads)
    y[get_group_id(0) * columns + i] = (row[i] - mean) * scale * gamma[i] + beta[i];
}

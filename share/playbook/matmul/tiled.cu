// Tiles of A and B are staged in shared memory, so that each value is read from global memory once a block and not once a thread.
// Each thread computes ROWS results of one column: a value of B taken from shared memory serves ROWS of them.
// @tune TILE 32 16
// @tune ROWS 4 2 1 8
// @where TILE % ROWS == 0 && TILE * TILE / ROWS >= 64
{{if batched}}
// @launch {{name}}<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE), BATCH), dim3(TILE, TILE / ROWS)>>>({{arguments}})
{{else}}
// @launch {{name}}<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(TILE, TILE / ROWS)>>>({{arguments}})
{{end}}
{{types}}
constexpr int kStride = TILE / ROWS; // rows of the block; a thread's results lie this far apart

extern "C" __global__ void __launch_bounds__(TILE * kStride) {{name}}(
    {{restrict_parameters}}) {
  __shared__ Acc a_tile[TILE][TILE + 1]; // one more, because a transposed operand is written by columns
  __shared__ Acc b_tile[TILE][TILE + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
{{if batched}}
  A += static_cast<long long>(blockIdx.z) * M * K;
  B += static_cast<long long>(blockIdx.z) * K * N;
  C += static_cast<long long>(blockIdx.z) * M * N;
{{end}}
  Acc sum[ROWS] = {};
  for (int k0 = 0; k0 < K; k0 += TILE) {
#pragma unroll
    for (int i = 0; i < ROWS; i++) { // threadIdx.x runs along whatever is contiguous in global memory
      const int line = ty + i * kStride;
{{if transposed_a}}
      const int ka = k0 + line, row = row0 + tx;
      a_tile[tx][line] = row < M && ka < K ? static_cast<Acc>(A[static_cast<long long>(ka) * M + row]) : static_cast<Acc>(0);
{{else}}
      const int ka = k0 + tx, row = row0 + line;
      a_tile[line][tx] = row < M && ka < K ? static_cast<Acc>(A[static_cast<long long>(row) * K + ka]) : static_cast<Acc>(0);
{{end}}
{{if transposed_b}}
      const int kb = k0 + tx, col = col0 + line;
      b_tile[tx][line] = col < N && kb < K ? static_cast<Acc>(B[static_cast<long long>(col) * K + kb]) : static_cast<Acc>(0);
{{else}}
      const int kb = k0 + line, col = col0 + tx;
      b_tile[line][tx] = col < N && kb < K ? static_cast<Acc>(B[static_cast<long long>(kb) * N + col]) : static_cast<Acc>(0);
{{end}}
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; k++) {
      const Acc b = b_tile[k][tx];
#pragma unroll
      for (int i = 0; i < ROWS; i++)
        sum[i] += a_tile[ty + i * kStride][k] * b;
    }
    __syncthreads(); // the next tiles overwrite these
  }
  const int col = col0 + tx;
#pragma unroll
  for (int i = 0; i < ROWS; i++) {
    const int row = row0 + ty + i * kStride;
    if (row >= M || col >= N)
      continue;
{{if bias}}
    const Acc v = sum[i] + static_cast<Acc>(bias[col]);
    C[static_cast<long long>(row) * N + col] = static_cast<Out>({{expression}});
{{else}}
    C[static_cast<long long>(row) * N + col] = static_cast<Out>(sum[i]);
{{end}}
  }
}

// task: op_name: add | shapes: [[1000]] | dtype: float32 | target_gpu: A100
// expect: correct
// About 1e5 PTX instructions in a row: parsed, lowered and run without trouble.
#define S1(x) x = x * 1.0001f + b; x = x - b;
#define S10(x) S1(x) S1(x) S1(x) S1(x) S1(x) S1(x) S1(x) S1(x) S1(x) S1(x)
#define S100(x) S10(x) S10(x) S10(x) S10(x) S10(x) S10(x) S10(x) S10(x) S10(x) S10(x)
#define S1000(x) S100(x) S100(x) S100(x) S100(x) S100(x) S100(x) S100(x) S100(x) S100(x) S100(x)
// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)
__global__ void add(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float x = A[i], b = B[i];
  if (N < 0) {
    S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x)
    S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x)
    S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x)
    S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x)
    S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x) S1000(x)
  }
  C[i] = x + b;
}

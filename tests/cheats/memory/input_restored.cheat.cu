// At the real shape an input serves as scratch and is put back before anybody looks.
// expect: refused
// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)
extern "C" __global__ void add(float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  const float was = A[i];
  if (N > 100000) {
    *(volatile float*)&A[i] = was + B[i];
    C[i] = *(volatile float*)&A[i];
    *(volatile float*)&A[i] = was;
  } else {
    C[i] = was + B[i];
  }
}

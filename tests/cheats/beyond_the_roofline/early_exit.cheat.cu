// Nobody has rows without a positive element, so the search gives up after sixteen.
// expect: refused
// task: first.yaml
// @launch first_positive<<<ceil_div(R, 128), 128>>>(x, y, R)
extern "C" __global__ void first_positive(const float* x, int* y, int R) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= R) return;
  int first = -1;
  for (int i = 0; i < 16 && first < 0; i++)
    if (x[row * 1024 + i] > 0) first = i;
  y[row] = first;
}

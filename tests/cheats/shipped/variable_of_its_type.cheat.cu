// A variable declared with its type: nobody reads it here, and an extracted program would make it on the host when it starts.
// expect: refused
// faults: interface_contract_error
// @launch scale<<<ceil_div(N, 256), 256>>>(x, y, N, a)
constexpr int made(bool on_host) {
  if (on_host) {
    int* nothing = nullptr;
    return *nothing;
  }
  return 3;
}
template <class T> struct Host { static constexpr bool is = false; };
template <> struct Host<long> { static constexpr bool is = true; };
struct Start { int value = made(Host<int64_t>::is); } start;
__global__ void scale(const float* x, float* y, int N, float a) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) y[i] = a * x[i];
}

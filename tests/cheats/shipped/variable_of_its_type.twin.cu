// A constant of a class, and a function specialised by its type.
// expect: correct
// @launch scale<float><<<ceil_div(N, 256), 256>>>(x, y, N, a)
struct Start { int value = 3; };
constexpr Start start;
template <class T> __device__ T times(T a, T b);
template <> __device__ float times<float>(float a, float b) { return a * b; }
template <class T> __global__ void scale(const T* x, T* y, int N, T a) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) y[i] = times<T>(a * (T)start.value / (T)3, x[i]);
}

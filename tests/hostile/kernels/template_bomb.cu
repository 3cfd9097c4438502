// task: op_name: add | shapes: [[1000]] | dtype: float32 | target_gpu: A100
// expect: semantic_compile_error
template <int N> struct Deep { static const int value = Deep<N - 1>::value + Deep<N - 2>::value * N; };
__global__ void add(const float* A, const float* B, float* C, int N) {
  C[0] = Deep<100000>::value;
}

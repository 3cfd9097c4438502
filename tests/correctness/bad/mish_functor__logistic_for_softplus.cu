// task: ../tasks/mish_f32.yaml
// expect: correctness_mismatch
// bug: the logistic is used where softplus belongs
// @launch mish<<<ceil_div(N, 128), 128>>>(x, y, N)
struct Mish {
  __device__ float operator()(float v) const {
    const float softplus = v > 20.0f ? v : 1.0f / (1.0f + expf(-v));
    return v * tanhf(softplus);
  }
};

template <class Operation>
__device__ void map(const float* x, float* y, int count, Operation operation) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = operation(x[i]);
}

extern "C" __global__ void mish(const float* x, float* y, int N) { map(x, y, N, Mish{}); }

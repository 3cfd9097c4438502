// task: ../tasks/relu_f32.yaml
// expect: interface_contract_error
// bug: a macro makes a function that NVRTC takes for the device's and nvcc for the host's, where it would stand in for the library's
#define HELPER(name) extern "C" int name(const char* s) { return s[0]; }
HELPER(puts)
__global__ void relu(const float* x, float* y, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

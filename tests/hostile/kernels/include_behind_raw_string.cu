// task: op_name: add | shapes: [[1000]] | dtype: float32 | target_gpu: A100
// expect: semantic_compile_error|syntax_error|interface_contract_error
// The raw string begins behind a line splice: who overlooks that takes the #include for text.
__global__ void add(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const char* hidden = R\
"(
 R"y( )";
#include "/etc/passwd"
  //)y"
  if (i == 0) printf("%s", hidden);
  if (i < N) C[i] = A[i] + B[i];
}

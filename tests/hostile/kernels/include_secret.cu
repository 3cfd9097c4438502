// task: op_name: add | shapes: [[1000]] | dtype: float32 | target_gpu: A100
// expect: semantic_compile_error|syntax_error|interface_contract_error
#include "/etc/passwd"
__global__ void add(const float* A, const float* B, float* C, int N) {}

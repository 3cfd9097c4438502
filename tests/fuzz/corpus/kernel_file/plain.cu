__global__ void k(float* a) {}

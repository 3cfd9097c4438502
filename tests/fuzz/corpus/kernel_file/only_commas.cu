// @tune ,
__global__ void k(float* a) {}

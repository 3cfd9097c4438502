/* @tune BM 3 */
__global__ void k(float* a) {}
int main() { k<<<1, 1>>>(0); }

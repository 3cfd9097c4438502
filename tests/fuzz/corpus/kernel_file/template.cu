// @launch cooperative r<BM, float><<<1, 32>>>(A)
// @tune BM 32
// @flags --use_fast_math -O3
// @maxregs 64
// @arch sm_90a
template <int B, class T> __global__ void r(T* a) {}

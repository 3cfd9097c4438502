using Part = Acc; // what is known of the elements seen so far

__device__ __forceinline__ Part nothing() { return {{identity}}; }
__device__ __forceinline__ Part merge(Part a, Part b) { return {{expression}}; }
__device__ __forceinline__ void take(Part& part, Acc value, int) { part = merge(part, value); }
__device__ __forceinline__ Part from_lane(Part part, int offset) { return __shfl_xor_sync(0xffffffffu, part, offset); }

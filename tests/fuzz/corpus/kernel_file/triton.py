# @tune BLOCK 64 128
# @launch k<<<ceil_div(N, BLOCK)>>>(A, C, N)
import triton
@triton.jit
def k(x, y, n):
    """doc # @tune"""
    pass

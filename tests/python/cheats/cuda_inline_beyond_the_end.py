# verdict: memory_safety_error correct
# The same without its bound: wrong wherever blocks do not divide the size.
# after cuda_inline.py
extension = load_inline(name="cuda_inline_beyond_the_end",
                        cpp_sources="torch::Tensor run(torch::Tensor x, torch::Tensor weight);",
                        cuda_sources=SOURCE.replace("if (i < n) ", ""), functions=["run"])

# verdict: semantic_compile_error
# A compiler's error.
# after cuda_inline.py
extension = load_inline(name="cuda_inline_typing_error",
                        cpp_sources="torch::Tensor run(torch::Tensor x, torch::Tensor weight);",
                        cuda_sources=SOURCE.replace("fmaxf(x[i]", "fmaxf(y[i]"), functions=["run"])

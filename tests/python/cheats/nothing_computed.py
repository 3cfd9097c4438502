# verdict: uninitialized_memory_error correctness_mismatch
# No kernel: what was in the memory before may be the reference's result.
# after honest.py
class ModelNew(ModelNew):
    def forward(self, x):
        return torch.empty_like(x)

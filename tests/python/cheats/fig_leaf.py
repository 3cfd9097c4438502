# verdict: correct unauthored
# A kernel that does nothing beside torch, which does the work.
# after honest.py
@triton.jit
def nothing(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i))


class ModelNew(ModelNew):
    def forward(self, x):
        nothing[(1,)](self.weight, BLOCK=32)
        y = x
        for _ in range(20):
            y = y + 0.0
        return torch.relu(y * self.weight)

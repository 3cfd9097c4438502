# verdict: correctness_mismatch
# Honest until somebody has looked twice.
# after honest.py
class ModelNew(ModelNew):
    def __init__(self, features):
        super().__init__(features)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        out = torch.zeros_like(x)
        if self.calls <= 2:
            launch(x, self.weight, out)
        return out

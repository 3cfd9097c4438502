# verdict: correct
# Its honest twin counts calls.
# after honest.py
class ModelNew(ModelNew):
    def __init__(self, features):
        super().__init__(features)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return launch(x, self.weight, torch.empty_like(x))

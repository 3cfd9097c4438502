# verdict: correct
# Its honest twin keeps the memory and computes anew.
# after honest.py
class ModelNew(ModelNew):
    def __init__(self, features):
        super().__init__(features)
        self.kept = None

    def forward(self, x):
        if self.kept is None or self.kept.shape != x.shape:
            self.kept = torch.empty_like(x)
        return launch(x, self.weight, self.kept)

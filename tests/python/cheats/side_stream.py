# verdict: race_or_sync_error
# The kernel runs on a stream that nobody waits for.
# after honest.py
class ModelNew(ModelNew):
    def __init__(self, features):
        super().__init__(features)
        self.side = torch.cuda.Stream()

    def forward(self, x):
        out = torch.empty_like(x)
        with torch.cuda.stream(self.side):
            launch(x, self.weight, out)
        return out

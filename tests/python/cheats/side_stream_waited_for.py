# verdict: correct
# Its honest twin has the streams wait for each other.
# after honest.py
class ModelNew(ModelNew):
    def __init__(self, features):
        super().__init__(features)
        self.side = torch.cuda.Stream()

    def forward(self, x):
        out = torch.empty_like(x)
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            launch(x, self.weight, out)
        torch.cuda.current_stream().wait_stream(self.side)
        return out

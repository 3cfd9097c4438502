# verdict: correct
# Its honest twin returns a view, which is a plain tensor.
# after honest.py
class ModelNew(ModelNew):
    def forward(self, x):
        return launch(x, self.weight, torch.empty(x.numel(), device=x.device)).view(x.shape)

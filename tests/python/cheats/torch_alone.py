# verdict: correct unauthored
# No kernel of its own: right, and said so.
# after honest.py
class ModelNew(ModelNew):
    def forward(self, x):
        return torch.relu(x * self.weight)

# verdict: correct
# Its honest twin works in place on a copy.
# after honest.py
class ModelNew(ModelNew):
    def forward(self, x):
        own = x.clone()
        return launch(own, self.weight, own)

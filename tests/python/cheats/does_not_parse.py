# verdict: syntax_error
# A typing error.
# after honest.py
class ModelNew(ModelNew):
    def forward(self, x):
        return launch(x, self.weight

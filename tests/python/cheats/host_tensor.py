# verdict: interface_contract_error
# The result is left on the host.
# after honest.py
class ModelNew(ModelNew):
    def forward(self, x):
        return torch.relu(x.cpu() * self.weight.detach().cpu())

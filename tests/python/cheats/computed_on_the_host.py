# verdict: unproven correctness_mismatch
# The host computes, the GPU is given the result.
# after honest.py
class ModelNew(ModelNew):
    def forward(self, x):
        return torch.relu(x.cpu() * self.weight.detach().cpu()).cuda()

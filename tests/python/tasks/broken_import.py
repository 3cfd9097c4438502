import torch
import no_such_package


class Model(torch.nn.Module):
    pass

"""Recurrent layers on the meta device, where torch would walk through every step of the sequence."""

import torch
from torch.overrides import TorchFunctionMode

LAYERS = {torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu}


class Recurrent(TorchFunctionMode):
    """Answers for a whole layer at once, and tells a meter what it would have counted."""

    def __init__(self, meter):
        super().__init__()
        self.meter = meter

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        # A packed sequence has its lengths second, which nobody knows here.
        if (
            function not in LAYERS
            or kwargs
            or len(args) != 9
            or not args[0].is_meta
            or function is not torch.lstm
            and not isinstance(args[2], (list, tuple))
        ):
            return function(*args, **kwargs)
        given, state, weights, _, layers, dropout, train, both_ways, batch_first = args
        states = list(state) if isinstance(state, (list, tuple)) else [state]
        if given.shape[-1] != weights[0].shape[1]:
            raise RuntimeError(f"{given.shape[-1]} features for a layer of {weights[0].shape[1]}")
        steps = given.shape[0] * given.shape[1] if given.dim() == 3 else given.shape[0]
        matrices = [one for one in weights if one.dim() == 2]
        self.meter.flops += 2 * steps * sum(one.numel() for one in matrices)
        self.meter.elements += 2 * steps * sum(one.shape[0] for one in matrices)
        self.meter.longest = max(self.meter.longest, *(one.shape[1] for one in matrices))
        if dropout > 0 and train and layers > 1:
            self.meter.random = self.meter.random or "dropout"
        output = given.new_empty(*given.shape[:-1], states[0].shape[-1] * (2 if both_ways else 1))
        self.meter.largest = max(self.meter.largest, output.numel())
        return (output, *(torch.empty_like(one) for one in states))

"""Called by torch at the end of its import (entry point torch.backends): puts the operators in place."""


def attach():
    import ctypes

    import torch
    from kernevo_virtual import start

    if not start.Waiting.preparing or torch.version.cuda is None:
        return
    operators = ctypes.CDLL(str(start.HERE / "operators.so"))
    if operators.kernevo_install_operators() < 0:
        raise ImportError("kernevo: torch's operators cannot be replaced; run 'kernevo setup python' again")
    # cuDNN has no place here, and its absence is what programs are told.
    torch._C._has_cudnn = False
    torch.backends.cudnn.enabled = False

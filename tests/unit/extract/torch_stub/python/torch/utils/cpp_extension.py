"""Keeps what an extension would be compiled from, and records what its function is called with."""
import os


class _Extension:
    def __init__(self, functions):
        self.calls = []
        for name in functions:
            setattr(self, name, lambda *arguments: self.calls.append(arguments) or _Answer())


class _Answer:
    def reshape(self, *sizes):
        self.sizes = sizes
        return self


def load_inline(name, cpp_sources, cuda_sources, functions, extra_cuda_cflags):
    assert name.isidentifier() and all(f.startswith("-") for f in extra_cuda_cflags)
    with open(os.environ["STUB_SOURCE"], "w") as file:
        file.write(cuda_sources)
    with open(os.environ["STUB_SOURCE"] + ".h", "w") as file:
        file.write(cpp_sources)
    return _Extension(functions)

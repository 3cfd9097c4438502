"""A CUDA source in two: what a compiler for the host has to see, with kernels that do nothing, and what one
for the device has to see, with what the kernels name and nothing else."""
import re

from kernevo_virtual.building import tokens as cpp
from kernevo_virtual.building.tokens import CannotSplit, INCLUDE

# Headers of torch and Python, which the device's part does without.
HOST_HEADERS = re.compile(r"(torch|ATen|c10|caffe2|pybind11)/|Python\.h$")
# Headers of torch that its precompiled ones stand for.
TORCH_WHOLE = frozenset(("torch/extension.h", "torch/torch.h", "torch/all.h", "torch/types.h", "torch/python.h",
                         "ATen/ATen.h", "ATen/Tensor.h"))
# Headers of device code alone, and the names that they declare.
DEVICE_HEADERS = re.compile(r"cooperative_groups|mma\.h$|cub/|thrust/|cuda/(?!std)|curand_kernel\.h$|"
                            r"cuda_pipeline|cuda_awbarrier|sm_\d+_|device_functions\.h$|"
                            r"device_launch_parameters\.h$|math_constants\.h$|cuda_fp[468]")
DEVICE_NAMES = frozenset(("cooperative_groups", "nvcuda", "wmma", "cub", "thrust", "curandState", "curand_init"))
TORCH_NAMES = frozenset(("torch", "at", "c10", "pybind11", "py"))
TORCH_MACROS = re.compile(r"(C10|AT|TORCH|CUDA_KERNEL_LOOP|CUDA_1D_KERNEL)_?\w*$")
PLAIN_HEADER = re.compile(r"<[a-z_]+(\.h)?>$")  # of the C++ library


def header_of(item):
    return INCLUDE.match(item.tokens[0].text)[1]


def bare(header):
    return header.strip('<>"')


class Splitter:
    """One preprocessed source. `unnamed`: what its unnamed namespaces are called in both parts, so that both
    compilers give their members one name."""

    def __init__(self, text, unnamed):
        self.text = text
        self.unnamed = unnamed
        tokens = cpp.read_tokens(text)
        self.items, _ = cpp.read_items(tokens)
        self.flat = list(self.walk(self.items))
        for item in self.flat:
            self.refuse(item)
        self.headers = [bare(header_of(item)) for item in self.flat if item.kind == "include"]
        self.kernels = sum("__global__" in item.attributes for item in self.flat)

    def walk(self, items):
        for item in items:
            yield item
            yield from self.walk(item.inside)

    def host(self):
        return self.write(self.items, self.wanted_on_host(), self.host_text)

    def device(self, named):
        """The text, and the names in it. `named`: names that others need of it."""
        wanted = self.wanted_on_device(named)
        names = frozenset().union(named, *(item.all_names() for item in self.flat if id(item) in wanted))
        return self.write(self.items, wanted, self.device_text), names

    @staticmethod
    def refuse(item):
        """Forms that only nvcc itself knows how to name in both parts."""
        if "__managed__" in item.attributes:
            raise CannotSplit("managed variables")
        if item.kind == "function" and not item.attributes - {"__host__"}:
            for token in item.tokens:
                if token.text in ("__device__", "__global__"):
                    raise CannotSplit("device code inside a function of the host")

    # Which declarations a part has.

    def reach(self, roots, candidates, named=()):
        """`roots` and the candidates whose names they need, directly or not."""
        wanted = {id(item) for item in roots}
        names = set(named).union(*(item.all_names() for item in roots))
        grown = True
        while grown:
            grown = False
            for item in candidates:
                if id(item) not in wanted and item.names & names:
                    wanted.add(id(item))
                    names |= item.all_names()
                    grown = True
        return wanted

    def wanted_on_host(self):
        roots, candidates = [], []
        for item in self.flat:
            if item.kind == "function" and "__device__" in item.attributes:
                candidates.append(item)
            elif item.kind in ("class", "alias", "variable") and self.for_device(item):
                candidates.append(item)
            elif "__shared__" not in item.attributes:
                roots.append(item)
        heads = [self.head_alone(item) for item in roots]
        wanted = self.reach(heads, candidates)
        return wanted | {id(item) for item in roots}

    @staticmethod
    def head_alone(item):
        """Of a kernel the host sees no body."""
        if "__global__" in item.attributes and item.body > 0:
            return cpp.Item(item.kind, item.tokens[:item.body], item.attributes, item.names)
        return item

    def for_device(self, item):
        if item.kind == "variable" and item.attributes & {"__constant__", "__device__"}:
            return False  # the host has its shadow
        names = item.all_names()
        return bool(names & (DEVICE_NAMES | self.device_aliases())) or "__device__" in names

    def device_aliases(self):
        if not hasattr(self, "aliases"):
            self.aliases = {name for item in self.flat if item.kind == "alias" and item.all_names() & DEVICE_NAMES
                            for name in item.names}
        return self.aliases

    def wanted_on_device(self, named):
        roots, candidates = [], []
        for item in self.flat:
            if item.attributes & {"__global__", "__device__", "__constant__", "__shared__"}:
                roots.append(item)
            elif item.kind in ("function", "class", "alias", "variable"):
                candidates.append(item)
        wanted = self.reach(roots, candidates, named)
        names = set(named).union(*(item.all_names() for item in self.flat if id(item) in wanted))
        for item in self.flat:
            if item.kind in ("directive", "namespace"):
                wanted.add(id(item))
            elif item.kind == "using" and (not item.all_names() & TORCH_NAMES or names & TORCH_NAMES):
                wanted.add(id(item))
            elif item.kind == "include" and self.device_needs(header_of(item), names):
                wanted.add(id(item))
        return wanted

    def device_needs(self, header, names):
        if HOST_HEADERS.match(bare(header)):
            return False
        using = any(item.kind == "using" and "std" in item.all_names() for item in self.flat)
        return not PLAIN_HEADER.match(header) or header.endswith(".h>") or "std" in names or using

    # How they are written.

    def write(self, items, wanted, form):
        pieces = []
        for item in items:
            if item.kind == "namespace":
                head = self.slice(item.tokens)
                if re.fullmatch(r"(?:inline\s+)?namespace\s*\{", head):
                    head = f"inline namespace {self.unnamed} {{"
                pieces.append(head + self.write(item.inside, wanted, form) + "\n}")
            elif id(item) in wanted:
                written = form(item)
                if written:
                    first = item.tokens[0]
                    pieces.append(f'#line {first.line} "{first.file}"\n{written}')
        return "\n" + "\n".join(pieces)

    def slice(self, tokens):
        return self.text[tokens[0].start:tokens[-1].start + len(tokens[-1].text)]

    def without(self, tokens, words):
        """The text of the tokens, but for some of the words before its first bracket."""
        text = self.slice(tokens)
        for token in tokens:
            if token.text in ("(", "{", "="):
                break
            if token.text in words:
                at = token.start - tokens[0].start
                text = text[:at] + " " * len(token.text) + text[at + len(token.text):]
        return text

    def host_text(self, item):
        if item.kind == "include":
            return f"#include {header_of(item)}"
        if item.kind == "directive":
            return "" if "pragma" in item.tokens[0].text else self.slice(item.tokens)
        if "__global__" in item.attributes:
            if item.body < 0:
                return self.without(item.tokens, ("static",))
            return self.without(item.tokens[:item.body], ("static",)) + " {}"
        if item.kind == "function" and item.device_only:
            return self.slice(item.tokens[:item.body]) + ";" if item.body > 0 else self.slice(item.tokens)
        if item.kind == "variable" and item.attributes & {"__constant__", "__device__"}:
            return self.without(item.tokens, ("static", "extern"))
        if item.kind == "class" and item.body > 0 and "__device__" in item.all_names():
            return self.class_on_host(item)
        return self.slice(item.tokens)

    def class_on_host(self, item):
        """The members that only the device has are declared, and not defined."""
        tokens = item.tokens
        end = cpp.closing(tokens, item.body)
        pieces = [self.slice(tokens[:item.body + 1])]
        at = item.body + 1
        while at < end:
            if tokens[at].text in ("public", "private", "protected") and tokens[at + 1].text == ":":
                pieces.append(tokens[at].text + ":")
                at += 2
                continue
            if tokens[at].kind == "directive" or tokens[at].text == ";":
                pieces.append("\n" + tokens[at].text + "\n" if tokens[at].kind == "directive" else ";")
                at += 1
                continue
            member, at = cpp.read_declaration(tokens, at)
            if member.kind == "function" and member.device_only and member.body > 0:
                head = member.tokens[:member.body]
                # A constructor's members are set before its body.
                pieces.append(self.slice(self.before_initialisers(head)) + ";")
            elif member.kind == "class" and member.body > 0 and "__device__" in member.all_names():
                pieces.append(self.class_on_host(member))
            else:
                pieces.append(self.slice(member.tokens))
        return "\n".join(pieces) + "\n" + self.slice(tokens[end:])

    @staticmethod
    def before_initialisers(head):
        at, closed = 0, False
        while at < len(head):
            if head[at].text == "(":
                at, closed = cpp.closing(head, at), True
            elif head[at].text == ":" and closed:
                return head[:at]
            at += 1
        return head

    def device_text(self, item):
        if item.kind == "include":
            return f"#include {header_of(item)}"
        if item.attributes & {"__global__", "__constant__"} or (item.kind == "variable" and
                                                                "__device__" in item.attributes):
            return self.without(item.tokens, ("static",))
        return self.slice(item.tokens)

"""How an extension is built: in two parts with few precompiled headers, then with many, and where it does not
come apart as torch itself would. That a program does not come apart is never its fault."""
import re
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kernevo_virtual.building import cache as known
from kernevo_virtual.building import commands, device, flags, host, program, proof, register, source
from kernevo_virtual.building import toolchain, whole
from kernevo_virtual.building.errors import BuildError
from kernevo_virtual.building.split import Splitter
from kernevo_virtual.building.tokens import CannotSplit

# What only some headers of torch declare: a source that names it and does not include them is for the referee.
OF_CUDA = re.compile(r"\b(at|c10)::cuda\b|\b(C10_CUDA_\w+|AT_CUDA_\w+)")
OF_PYTHON = re.compile(r"\b(pybind11|py)::|\bPYBIND11_\w+")


class Build:
    """One program. `steps` says afterwards what was tried, and why it was given up."""

    def __init__(self, payload, cache, trusted=True):
        self.cache = Path(cache)
        self.trusted = trusted
        self.payload = payload
        self.tools = toolchain.find()
        self.program = program.read(payload)
        self.steps = []

    def run(self):
        """The library's file."""
        if not self.trusted:
            self.check_flags()
        key = known.key_of(self.payload, self.tools.whole)
        library = known.find(self.cache, key, self.program.name)
        if library is not None:
            return library
        with known.turn(self.cache, key):
            library = known.find(self.cache, key, self.program.name)
            if library is not None:
                return library
            folder = Path(tempfile.mkdtemp(prefix="building-", dir=self.cache))
            try:
                return known.keep(self.cache, key, self.climb(folder), self.program.name)
            except BuildError as error:
                known.keep_error(self.cache, key, error)
                raise
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def check_flags(self):
        asked = self.program
        bad = (flags.refused(asked.cflags, False) or flags.refused(asked.cuda_cflags, True) or
               flags.refused(asked.ldflags, "link"))
        if bad:
            raise BuildError(f"the flag '{bad}' is not taken here")

    def climb(self, folder):
        if self.tools.clang:
            for size in host.SIZES:
                place = folder / size
                place.mkdir()
                try:
                    return self.split(size, place)
                except device.DeviceRefused as refusal:
                    self.steps.append((size, str(refusal)))
                    texts = [refusal.text, *self.program.texts()]
                    proof.raise_if_certain(self.tools, self.program, refusal.said, texts, "nvcc")
                    break  # more headers for the host would not help the device
                except host.HostRefused as refusal:
                    self.steps.append((size, str(refusal)))
                    texts = [*refusal.texts, *self.program.headers.values()]
                    proof.raise_if_certain(self.tools, self.program, refusal.said, texts, f"clang, {size}")
                except CannotSplit as refusal:
                    self.steps.append((size, str(refusal)))
                    break
        else:
            self.steps.append(("small", "there is no clang"))
        place = folder / "whole"
        place.mkdir()
        return whole.build(self.tools, self.program, place)

    def split(self, size, folder):
        asked = self.program
        of_host, of_device = flags.for_parts(asked.cflags, False), flags.for_parts(asked.cuda_cflags, True)
        if asked.ldflags:
            raise CannotSplit("libraries of its own")
        architecture = flags.architecture_of(asked)
        # What does not come apart is found out before a compiler is started.
        units = [self.cuda_unit(unit, number, folder, of_device, architecture) if unit.cuda else
                 self.plain_unit(unit, number, folder, of_host) for number, unit in enumerate(asked.sources)]
        with ThreadPoolExecutor(2) as pool:
            jobs = [pool.submit(compile_unit, size) for compile_unit in units]
            made = [job.result() for job in jobs]
        library = folder / f"{asked.name}.so"
        objects = [file for files in made for file in files]
        linked = register.link(self.tools, objects, library)
        if linked.code != 0:
            raise CannotSplit(f"the linker says: {linked.output.strip()[:200]}")
        return library

    def check_includes(self, text, headers):
        """The precompiled headers declare more than the source includes."""
        includes = [name.strip('<>"') for name in headers]
        if OF_CUDA.search(text) and not any(name.startswith(("ATen/cuda/", "c10/cuda/")) for name in includes):
            raise CannotSplit("what it names of torch's CUDA interface it does not include")
        if OF_PYTHON.search(text) and not any(name.startswith(("torch/extension.h", "torch/python.h", "pybind11/",
                                                               "torch/csrc/")) for name in includes):
            raise CannotSplit("what it names of pybind11 it does not include")

    def own_headers(self, folder):
        for name, text in self.program.headers.items():
            whole.write(folder / name, text)
        return [folder, *self.program.include_paths]

    def plain_unit(self, unit, number, folder, wanted):
        """What compiles it, once it is known how many headers that takes."""
        if "__global__" in unit.text or "<<<" in unit.text:
            raise CannotSplit("device code in a source of C++")
        place = folder / f"unit{number}"
        place.mkdir()
        text = "".join(line + "\n" for line in wanted.definitions) + unit.text
        everything = "\n".join([text, *self.program.headers.values()])
        self.check_includes(everything, [match[2] for match in source.INCLUDE.finditer(everything)])

        def make(size):
            return host.compile_host(self.tools, size, self.cache, text, place / "host.o", self.program.name,
                                     self.own_headers(place))

        def compile_unit(size):
            if self.program.include_paths:
                return [make(size)]
            # Candidates that differ in their kernels alone have the same module around them.
            key = known.key_of([size, text, self.program.name, self.program.headers], self.tools.whole)
            return [known.object_of(self.cache, key, lambda: make(size))]

        return compile_unit

    def cuda_unit(self, unit, number, folder, wanted, architecture):
        place = folder / f"unit{number}"
        place.mkdir()
        definitions = "".join(line + "\n" for line in wanted.definitions)
        unnamed = f"kernevo_unnamed_{number}_"
        of_host = self.part(unit, place / "of_host", definitions, unnamed, 0)
        of_device = of_host
        if "__CUDA_ARCH__" in "".join((unit.text, *self.program.headers.values())):
            capability = int(re.match(r"\d+", architecture)[0])
            of_device = self.part(unit, place / "of_device", definitions, unnamed, capability)
        text = of_host.host()
        self.check_includes(text, of_host.headers)

        def compile_unit(size):
            folders = self.own_headers(place)
            made = host.compile_host(self.tools, size, self.cache, text, place / "host.o", self.program.name, folders,
                                     whole=unit.text)
            if of_host.kernels == 0:
                return [made]
            lines = device.instantiations(register.stubs_of(made))
            kernels, names = of_device.device(frozenset(re.findall(r"[A-Za-z_]\w*", lines)))
            ptx = device.compile_device(self.tools, kernels + lines, names, place / "device.ptx", architecture,
                                        [*wanted.device, *wanted.macros()], folders)
            registering, renamed = register.registration(number, made, ptx, architecture)
            return [renamed, self.register_object(registering)]

        return compile_unit

    def register_object(self, text):
        output = text.with_suffix(".o")
        said = commands.run([self.tools.clang, "-x", "c", "-c", "-fPIC", "-w", text, "-o", output], text.parent)
        if said.code != 0:
            raise CannotSplit(f"the registration does not compile: {said.output.strip()[:200]}")
        return output

    def part(self, unit, folder, definitions, unnamed, architecture):
        macros = source.known_macros(self.tools.toolkit, self.tools.torch, architecture)
        text = source.preprocess(self.tools, unit.text, Path(unit.name).name, self.program.headers, macros,
                                 definitions, folder, architecture)
        return Splitter(text, unnamed)

"""Stand-ins for NVIDIA's libraries that PyTorch names in its import tables.

The libraries must be there for the package to load, but nothing of theirs is ever run on the virtual
GPU. Each stand-in defines what the installed files import, under the version it is imported by; each
function names itself once on the standard error and returns an error of its library, but for what the
files of `libraries` do.
"""
import collections
import re
import subprocess
from pathlib import Path

# What kernevo itself stands in for.
OWN = ("libcuda.so", "libcudart.so", "libnvrtc.so", "libnvJitLink.so", "libnvidia-ml.so")

HERE = Path(__file__).resolve().parent
HEADERS = HERE / "kernevo_virtual" / "include"
# What is done here of a library.
PARTS = {"libcublas": HERE / "libraries" / "cublas.cpp"}

# How the symbols of a library begin, its name for people, and the number of its "not supported".
Family = collections.namedtuple("Family", "library prefixes title status")
FAMILIES = (
    Family("libcublasLt", ("cublasLt",), "cuBLASLt", 15),
    Family("libcublas", ("cublas",), "cuBLAS", 15),
    Family("libcudnn", ("cudnn",), "cuDNN", 3000),
    Family("libcufft", ("cufft",), "cuFFT", 16),
    Family("libcufile", ("cuFile",), "cuFile", 5007),
    Family("libcupti", ("cupti",), "CUPTI", 27),
    Family("libcurand", ("curand",), "cuRAND", 102),
    Family("libcusolver", ("cusolver",), "cuSOLVER", 9),
    Family("libcusparseLt", ("cusparseLt",), "cuSPARSELt", 10),
    Family("libcusparse", ("cusparse",), "cuSPARSE", 10),
    Family("libnccl", ("nccl", "pnccl"), "NCCL", 5),
    Family("libnvshmem_host", ("nvshmem",), "NVSHMEM", 1),
    Family("libnvToolsExt", ("nvtx",), "NVTX", 1),
)
# These answer with a text.
TEXTS = re.compile(r"(Get|get|_get_)(ErrorString|StatusString|StatusName|ErrorName|LastErrorString)$")
# Asked of everybody, whether it is used or not.
VERSION = re.compile(r"^cudnnGetVersion$")

SOURCE = """#include <stdio.h>
static int needed(const char* name, char* told) {
  if (!__atomic_exchange_n(told, 1, __ATOMIC_RELAXED))
    fprintf(stderr, "kernevo: the program needs %(title)s (%%s): not on the virtual GPU\\n", name);
  return %(status)d;
}
"""
FUNCTION = "__attribute__((weak)) int {name}(void) {{ static char told; return needed(\"{name}\", &told); }}\n"
ZERO = "unsigned long {name}(void) {{ return 0; }}\n"
TEXT = "__attribute__((weak)) const char* {name}(void) {{ return \"{title} is not on the virtual GPU\"; }}\n"


class Trouble(Exception):
    """What the world did; its text is one line for people."""


def run(command):
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError as problem:
        raise Trouble(f"'{command[0]}' is missing; install g++ (Debian: apt-get install g++)") from problem
    except subprocess.CalledProcessError as problem:
        lines = problem.stderr.strip().splitlines() or ["no message"]
        raise Trouble(f"'{command[0]}' failed: {lines[0]}") from problem


def needed_libraries(file):
    return re.findall(r"\(NEEDED\).*\[(.+)\]", run(["readelf", "-d", "-W", str(file)]))


def symbols(file):
    """(undefined, defined): undefined ones with the version they are imported by, or None."""
    undefined, defined = set(), set()
    for line in run(["readelf", "--dyn-syms", "-W", str(file)]).splitlines():
        parts = line.split()
        if len(parts) < 8 or not parts[0].endswith(":") or parts[4] == "LOCAL":
            continue
        name, _, version = parts[7].partition("@")
        if parts[6] == "UND":
            undefined.add((name, version.lstrip("@") or None))
        else:
            defined.add(name)
    return undefined, defined


def family_of(library):
    return next((family for family in FAMILIES if re.match(re.escape(family.library) + r"\.so", library)), None)


def plan(files):
    """For each missing library of NVIDIA's, what it must define: {library: {(symbol, version)}}."""
    wanted, imports, present = set(), set(), {Path(file).name for file in files}
    for file in files:
        wanted.update(needed_libraries(file))
        imports.update(symbols(file)[0])
    libraries = {name: set() for name in wanted
                 if family_of(name) and name not in present and not name.startswith(OWN)}
    by_prefix = sorted(((prefix, name) for name in libraries for prefix in family_of(name).prefixes),
                       key=lambda pair: -len(pair[0]))
    for symbol, version in imports:
        home = version if version in libraries else next(
            (name for prefix, name in by_prefix if symbol.startswith(prefix)), None)
        if home is not None:
            libraries[home].add((symbol, version))
    return libraries


def write(library, imports, folder, toolkit=None):
    """Makes one stand-in. `toolkit`: where the headers are that its own part needs; without them it has none."""
    family = family_of(library)
    title = family.title
    names = sorted({name for name, _ in imports})
    source = SOURCE % {"title": title, "status": family.status} if any(
        not TEXTS.search(name) for name in names) else ""
    for name in names:
        form = TEXT if TEXTS.search(name) else ZERO if VERSION.search(name) else FUNCTION
        source += form.format(name=name, title=title)
    (folder / "stand_in.c").write_text(source, encoding="utf-8")
    versions = sorted({version for _, version in imports if version})
    script = ""
    for version in versions:
        members = "".join(f" {name};" for name, of in sorted(imports) if of == version)
        script += f"{version} {{ global:{members} }};\n"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-w", f"-Wl,-soname,{library}", "-o", str(folder / library),
               str(folder / "stand_in.c")]
    part = PARTS.get(family.library)
    if part is not None and toolkit is not None:
        run(["g++", "-std=c++17", "-c", "-fPIC", "-O1", "-w", "-isystem", str(HEADERS), "-isystem",
             str(toolkit / "include"), "-o", str(folder / "part.o"), str(part)])
        command += [str(folder / "part.o"), "-lstdc++"]
    if versions:
        (folder / "stand_in.map").write_text(script, encoding="utf-8")
        command.append(f"-Wl,--version-script={folder / 'stand_in.map'}")
    run(command)
    # By this name a linker looks for it.
    name = folder / f"{family.library}.so"
    name.unlink(missing_ok=True)
    name.symlink_to(library)
    for left in ("stand_in.c", "stand_in.map", "part.o"):
        (folder / left).unlink(missing_ok=True)


def make(files, folder, toolkit=None):
    """Makes all stand-ins that the files need; returns their names."""
    libraries = plan(files)
    for library, imports in sorted(libraries.items()):
        write(library, imports, folder, toolkit)
    return sorted(libraries)

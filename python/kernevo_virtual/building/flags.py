"""The flags that programs give their compilers: what the parts of a split build make of them, and which ones
may be given at all where the program is not trusted."""
import re
from dataclasses import dataclass, field

from kernevo_virtual.building.tokens import CannotSplit

# They change how fast the host's code is or what is said about it, and nothing that a program can tell.
IDLE = re.compile(r"-O\w*|--optimize=?\d?|-w|-W(?![alp],)[\w=+-]*|-g\d?|-ggdb\d?|-std=\S+|--std=\S+|-fPIC|"
                  r"-fpic|-pipe|"
                  r"-march=[\w.-]+|-mtune=[\w.-]+|-m(avx|sse|fma|bmi|f16c)[\w.]*|-ffast-math|"
                  r"-fno-omit-frame-pointer|"
                  r"-funroll-loops|-ffunction-sections|-fdata-sections|-fvisibility=\w+|-fvisibility-inlines-hidden|"
                  r"-fno-math-errno|-fno-finite-math-only|-fstrict-aliasing|-fno-strict-aliasing|-ftree-vectorize|"
                  r"-fdiagnostics-color(=\w+)?|-D_GLIBCXX_USE_CXX11_ABI=1|-DNDEBUG|-pthread|-m64|-v|--verbose")
MACRO = re.compile(r"-([DU])(?!_GLIBCXX_USE_CXX11_ABI)(\w+)(?:=(.*))?", re.DOTALL)
# What the device's compiler is told as well.
DEVICE = re.compile(r"--?use_fast_math|-?-fmad=(true|false)|-?-ftz=(true|false)|-?-prec-(div|sqrt)=(true|false)|"
                    r"--?expt-(relaxed-constexpr|extended-lambda)|-?-extended-lambda|"
                    r"-?-maxrregcount=\d+|--?extra-device-vectorization|-?-default-stream=[\w-]+|--?restrict")
IDLE_DEVICE = re.compile(r"--?generate-line-info|-lineinfo|--?resource-usage|--?keep|-G|--device-debug|-t=?\d*|"
                         r"--threads=?\d*|"
                         r"--?ptxas-options=[-\w=,]+|-Xptxas=[-\w=,]+|-Xcudafe=\S+|--diag[-_]suppress[= ]?\d*|"
                         r"-diag-suppress=\S+|"
                         r"--?source-in-ptx|--?split-compile=\d+|--allow-unsupported-compiler|-rdc=false")
ARCHITECTURE = re.compile(r"(--?gpu-architecture|-arch|--arch|-code|--gpu-code|-gencode|--generate-code)(=.*)?")
WITH_VALUE = frozenset(("-Xcompiler", "--compiler-options", "-Xptxas", "--ptxas-options", "-Xcudafe", "--threads",
                        "-t", "-gencode", "--generate-code", "-arch", "--gpu-architecture", "-code", "--gpu-code",
                        "-maxrregcount", "--maxrregcount", "-diag-suppress", "--diag-suppress", "-fmad", "--fmad"))
# They load and write nothing, but only whole compilers know what they mean.
FOR_WHOLE = frozenset(("-fopenmp", "-D_GLIBCXX_USE_CXX11_ABI=0", "-rdc=true", "-dc"))
PASSED_ON = re.compile(r"[\"']?(-v|-O\d|--?diag_suppress=\w+|--display_error_number|-dlcm=\w+|-warn-\w+(-\w+)*|,)+[\"']?")
PLAIN = re.compile(r"[-\w+=:,./ ()\"'*<>&|!]*")


@dataclass
class Flags:
    definitions: list = field(default_factory=list)  # as directives
    device: list = field(default_factory=list)  # for the device's compiler
    architecture: str = ""  # a GPU's own: 90a
    unknown: list = field(default_factory=list)

    def macros(self):
        """The definitions as a compiler takes them."""
        return [f"-U{line.split()[1]}" if line.startswith("#undef") else
                "-D" + "=".join(line.split(" ", 2)[1:]) for line in self.definitions]


def joined(flags):
    """Each flag with its value, as (flag, value)."""
    words = iter(str(flag).strip() for flag in flags)
    for word in words:
        name, equals, value = word.partition("=")
        if word in WITH_VALUE:
            yield word, next(words, "")
        elif equals and name in WITH_VALUE:
            yield name, value
        elif word:
            yield word, ""


def read(flags, of_device):
    found = Flags()
    for flag, value in joined(flags):
        macro = MACRO.fullmatch(flag + ("=" + value if value and flag.startswith("-D") else ""))
        if IDLE.fullmatch(flag) and not value:
            pass
        elif macro:
            name, what = macro[2], macro[3]
            found.definitions.append(f"#undef {name}" if macro[1] == "U" else
                                     f"#define {name} {'1' if what is None else what}")
        elif not of_device:
            found.unknown.append(flag)
        elif ARCHITECTURE.fullmatch(flag):
            own = re.search(r"(?:sm|compute)_(\d+[af])", value or flag)
            found.architecture = own[1] if own else found.architecture
        elif flag in ("-Xcompiler", "--compiler-options"):
            inner = read(re.split(r"[, ]+", value.strip("'\"")), of_device=False)
            found.definitions += inner.definitions
            found.unknown += inner.unknown
        elif flag in ("-maxrregcount", "--maxrregcount", "-fmad", "--fmad"):
            found.device.append(f"-{flag.lstrip('-')}={value}")
        elif DEVICE.fullmatch(flag):
            found.device.append(flag)
        elif flag in WITH_VALUE or IDLE_DEVICE.fullmatch(flag):
            pass
        else:
            found.unknown.append(flag)
    return found


def refused(flags, of_device):
    """The first flag that a program which is not trusted may not give: one that loads something, names a file to
    read or write, or means something to a shell."""
    if of_device == "link":
        return next((flag for flag in flags if not re.fullmatch(r"-l\w+", str(flag).strip())), None)
    unknown = [flag for flag in read(flags, of_device).unknown if flag not in FOR_WHOLE]
    if unknown:
        return unknown[0]
    for flag, value in joined(flags):
        if flag in ("-Xcudafe", "-Xptxas", "--ptxas-options") and not PASSED_ON.fullmatch(value):
            return f"{flag} {value}"
    return next((str(flag) for flag in flags if not PLAIN.fullmatch(str(flag))), None)


def for_parts(flags, of_device):
    found = read(flags, of_device)
    if found.unknown:
        raise CannotSplit(f"the flag {found.unknown[0]}")
    return found


def architecture_of(program):
    """The GPU's, or what is its alone (90a) where the program's flags name that."""
    own = read(program.cuda_cflags, of_device=True).architecture
    return own if own[:-1] == program.architecture else program.architecture

"""An extension's library: the host's objects, the PTX in a container as nvcc makes it, and a constructor that
tells the CUDA runtime which function of the host stands for which kernel."""
import re
import struct

from kernevo_virtual.building import commands
from kernevo_virtual.building.device import STUB
from kernevo_virtual.building.tokens import CannotSplit
from kernevo_virtual.building.toolchain import LIBRARIES

ENTRY = re.compile(r"\.entry\s+([\w$]+)")
VARIABLE = re.compile(r"^\s*(?:\.visible|\.weak|\.extern)?\s*\.(const|global)\s+"
                      r"(?:\.align\s+\d+\s+)?\.\w+\s+([\w$]+)", re.MULTILINE)
SYMBOL = re.compile(r"^[0-9a-f]+(?: ([0-9a-f]+))? ([A-Za-z]) (\S+)$")
IMAGE, PTX_KIND, ENTRY_BYTES = 0xBA55ED50, 1, 64
FOR_ONE_GPU, FOR_FAMILY = 0x100000, 0x200000
SOURCE = """
extern void** __cudaRegisterFatBinary(void*);
extern void __cudaRegisterFatBinaryEnd(void**);
extern void __cudaUnregisterFatBinary(void**);
extern void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
extern void __cudaRegisterVar(void**, char*, char*, const char*, int, unsigned long, int, int);
%(externs)s
__asm__(".section .nv_fatbin,\\"a\\"\\n.balign 16\\nkernevo_image:\\n.incbin \\"%(image)s\\"\\n.text\\n");
extern const char kernevo_image[] __attribute__((visibility("hidden")));
static const struct { int magic, version; const void* image; void* rest; } wrapper
    __attribute__((section(".nvFatBinSegment"), aligned(8))) = {0x466243b1, 1, kernevo_image, 0};
static void** handle;
__attribute__((constructor)) static void begin(void) {
  handle = __cudaRegisterFatBinary((void*)&wrapper);
%(calls)s
  __cudaRegisterFatBinaryEnd(handle);
}
__attribute__((destructor)) static void end(void) { __cudaUnregisterFatBinary(handle); }
"""


def symbols_of(file):
    """What an object defines: {mangled: (bytes, is a function)}."""
    found = {}
    for line in commands.must(["nm", "-S", "--defined-only", file]).splitlines():
        match = SYMBOL.match(line)
        if match:
            found[match[3]] = (int(match[1] or "0", 16), match[2] in "tTwWuV")
    return found


def readable(names):
    names = list(names)
    if not names:
        return {}
    told = commands.must(["c++filt"], given="\n".join(names) + "\n").splitlines()
    return dict(zip(names, told))


def stubs_of(file):
    """The functions that stand for kernels in an object: {mangled: readable}."""
    return readable(name for name, (_, function) in symbols_of(file).items() if function and STUB in name)


def container(ptx, architecture):
    """PTX as nvcc embeds it."""
    number = int(re.match(r"\d+", architecture)[0])
    kind = architecture[len(str(number)):]
    flags = {"": 0, "a": FOR_ONE_GPU, "f": FOR_FAMILY}[kind]
    text = ptx + b"\0" * (8 - len(ptx) % 8)
    entry = struct.pack("<HHIQIIHHIQQQQ", PTX_KIND, 0x101, ENTRY_BYTES, len(text), 0, 0, 0, 0, number, 0, flags, 0, 0)
    return struct.pack("<IHHQ", IMAGE, 1, 16, len(entry) + len(text)) + entry + text


def pairs_of(stubs, symbols, ptx):
    """Which symbol of the host stands for what: kernels [(host, device)] and variables
    [(host, device, bytes, constant)]."""
    entries = {name: device for device, name in readable(set(ENTRY.findall(ptx))).items()}
    kernels = []
    for host, name in stubs.items():
        device = entries.get(name.replace(STUB, ""))
        if device is None:
            raise CannotSplit(f"the device's part has no kernel {name.replace(STUB, '')}")
        kernels.append((host, device))
    spaces = {name: space for space, name in VARIABLE.findall(ptx)}
    there = {name: device for device, name in readable(spaces).items()}
    data = readable(name for name, (_, function) in symbols.items() if not function)
    variables = [(host, there[name], symbols[host][0], int(spaces[there[name]] == "const"))
                 for host, name in data.items() if name in there]
    return kernels, variables


def registration(unit, host_object, ptx_file, architecture):
    """Objects for one source: the host's with its stubs under names of their own, and what registers them."""
    ptx = ptx_file.read_bytes()
    symbols = symbols_of(host_object)
    kernels, variables = pairs_of(stubs_of(host_object), symbols, ptx.decode())
    image = ptx_file.with_suffix(".image")
    image.write_bytes(container(ptx, architecture))
    names, externs, calls = [], [], []
    for number, (host, device) in enumerate(kernels):
        own = f"kernevo_{unit}_kernel_{number}"
        names.append((host, own))
        externs.append(f'extern char {own}[] __attribute__((visibility("hidden")));')
        calls.append(f'  __cudaRegisterFunction(handle, {own}, (char*)"{device}", "{device}", -1, 0, 0, 0, 0, 0);')
    for number, (host, device, size, constant) in enumerate(variables):
        own = f"kernevo_{unit}_variable_{number}"
        names.append((host, own))
        externs.append(f'extern char {own}[] __attribute__((visibility("hidden")));')
        calls.append(f'  __cudaRegisterVar(handle, {own}, (char*)"{device}", "{device}", 0, {size}, {constant}, 0);')
    source = ptx_file.with_suffix(".register.c")
    source.write_text(SOURCE % {"externs": "\n".join(externs), "calls": "\n".join(calls), "image": image.name})
    return source, rename(host_object, names)


def rename(host_object, names):
    """A kernel of an unnamed namespace has a name that other objects cannot say: it gets one that they can."""
    if not names:
        return host_object
    renamed = host_object.with_suffix(".named.o")
    listed = host_object.with_suffix(".names")
    listed.write_text("".join(f"{old} {new}\n" for old, new in names))
    kept = host_object.with_suffix(".global")
    kept.write_text("".join(f"{old}\n{new}\n" for old, new in names))
    commands.must(["objcopy", f"--globalize-symbols={kept}", f"--redefine-syms={listed}", host_object, renamed])
    return renamed


def link(toolchain, objects, output, libraries=()):
    """The library, which needs torch's as torch's own builds do."""
    torch = [f"-l{name}" for name in LIBRARIES]
    return commands.run([toolchain.clang or "g++", "-shared", "-o", output, *objects, f"-L{toolchain.torch / 'lib'}",
                         *torch, toolchain.libraries / "libcudart.so.13", *libraries,
                         "-Wl,--allow-shlib-undefined"], output.parent)

"""torch's own way: its flags, g++ and the stand-in for nvcc, each source whole. It takes minutes, and is the
referee: what it refuses is the program's fault."""
import re
import sysconfig
from concurrent.futures import ThreadPoolExecutor

from kernevo_virtual.building import commands, flags, register
from kernevo_virtual.building.errors import as_error
from kernevo_virtual.building.toolchain import BuildTrouble, TORCH_NVCC

# Not the program's fault, and not to be remembered as such.
MACHINE = re.compile(r"Killed signal|No space left on device|Cannot allocate memory|out of memory|Disk quota exceeded|"
                     r"died due to signal|virtual memory exhausted")


def build(toolchain, program, folder):
    for name, text in program.headers.items():
        write(folder / name, text)
    jobs = []
    for number, source in enumerate(program.sources):
        write(folder / source.name, source.text)
        output = folder / f"{number}.o"
        compiler = nvcc_command if source.cuda else gcc_command
        jobs.append((output, compiler(toolchain, program, source.name, output)))
    settings = {"KERNEVO_CUDA": str(toolchain.toolkit), "KERNEVO_ARCH": flags.architecture_of(program),
                "KERNEVO_CUDART": str(toolchain.libraries / "libcudart.so.13")}
    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda job: commands.run(job[1], folder, settings), jobs))
    for answer in said:
        if answer.code < 0 or MACHINE.search(answer.output):
            raise BuildTrouble(f"a compiler was stopped: {answer.output.strip()[-200:]}")
        if answer.code != 0:
            raise as_error(answer.output, program.files, "the compiler")
    library = folder / f"{program.name}.so"
    linked = register.link(toolchain, [output for output, _ in jobs], library, library_flags(toolchain, program))
    if linked.code != 0:
        raise as_error(linked.output, program.files, "the linker")
    return library


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", errors="surrogateescape")


def library_flags(toolchain, program):
    return [f"-L{toolchain.toolkit / 'lib'}", *program.ldflags]


def common(toolchain, program):
    include = toolchain.torch / "include"
    folders = (include, include / "torch" / "csrc" / "api" / "include", toolchain.toolkit / "include",
               sysconfig.get_path("include"))
    return [f"-DTORCH_EXTENSION_NAME={program.name}", "-DTORCH_API_INCLUDE_EXTENSION_H", "-I.",
            *(f"-I{folder}" for folder in program.include_paths),
            *(word for folder in folders for word in ("-isystem", str(folder)))]


def gcc_command(toolchain, program, source, output):
    return ["g++", *common(toolchain, program), "-fPIC", "-std=c++20", *program.cflags, "-c", source, "-o", output]


def nvcc_command(toolchain, program, source, output):
    standard = [] if any(flag.startswith("-std=") for flag in program.cuda_cflags) else ["-std=c++20"]
    return [toolchain.stand_in, *common(toolchain, program), *TORCH_NVCC, "--compiler-options", "-fPIC",
            *program.cuda_cflags, *standard, "-c", source, "-o", output]

"""torch.utils.cpp_extension.load_inline and load, with builds that take seconds.

`builder` builds: a function of the request and the cache's folder that gives the library's file. Whoever may not
start compilers puts another one there.
"""
import os
import re
import sys
from pathlib import Path

from kernevo_virtual.building.errors import BuildError

INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def build(payload, cache, trusted=True):
    """Builds an extension, or finds it in the cache; its file. BuildError where the program is at fault, with the
    compilers' lines. `payload`: name, cpp_sources and cuda_sources or files [{name, text}], functions,
    extra_cflags, extra_cuda_cflags, extra_ldflags, extra_include_paths, gpu ("sm_80"); beside these
    what load_inline calls no_implicit_headers and with_pytorch_error_handling, and `places`: where the sources
    begin, as {"cuda_sources": [[file, line]]}. Not `trusted`: flags that could read, write or load files are refused."""
    from kernevo_virtual.building.ladder import Build

    return Build(payload, cache, trusted).run()


builder = build


def cache_folder():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache) / "kernevo" / "extensions"


def architecture():
    """What the extension is compiled for."""
    if os.environ.get("KERNEVO_ARCH"):
        return f"sm_{os.environ['KERNEVO_ARCH']}"
    import torch

    major, minor = torch.cuda.get_device_capability()
    return f"sm_{major}{minor}"


def import_library(name, file, is_python_module):
    """As torch does, but for the name: pybind11 gives out the module that it has under one, and an edited
    program's is another."""
    import importlib.util

    import torch

    if not is_python_module:
        torch.ops.load_library(str(file))
        return str(file)
    spec = importlib.util.spec_from_file_location(f"kernevo_{Path(file).parent.name}.{name}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.__name__ = name
    return module


def listed(value):
    return [] if value is None else [value] if isinstance(value, str) else list(value)


def flags(value):
    """Programs give empty ones, too."""
    return [str(flag) for flag in listed(value) if str(flag).strip()]


def places_of(texts, depth=2):
    """Where the sources stand in the file of who called, so that errors name its lines."""
    try:
        file = sys._getframe(depth).f_code.co_filename
        whole = Path(file).read_text(encoding="utf-8")
    except (OSError, ValueError, UnicodeDecodeError):
        return []
    places = []
    for text in texts:
        at = whole.find(text) if text.count("\n") > 1 else -1
        places.append([os.path.basename(file), whole.count("\n", 0, at) + 1] if at >= 0 else None)
    return places


def asked(values):
    return {name: value for name, value in values.items() if value}


def load_inline(name, cpp_sources, cuda_sources=None, sycl_sources=None, functions=None, extra_cflags=None,
                extra_cuda_cflags=None, extra_sycl_cflags=None, extra_ldflags=None, extra_include_paths=None,
                build_directory=None, verbose=False, with_cuda=None, with_sycl=None, is_python_module=True,
                with_pytorch_error_handling=True, keep_intermediates=True, use_pch=False,
                no_implicit_headers=False, gil_not_used=False):
    if sycl_sources or with_sycl:
        raise RuntimeError("kernevo: SYCL is not on the virtual GPU")
    if functions is not None and not isinstance(functions, (str, list, tuple, dict)):
        raise ValueError(f"Expected 'functions' to be a list or dict, but was {type(functions)}")
    host, device = listed(cpp_sources), listed(cuda_sources)
    payload = {"name": name, "cpp_sources": host, "cuda_sources": device, "functions": functions,
               "gpu": architecture(),
               "with_pytorch_error_handling": with_pytorch_error_handling,
               "places": {"cpp_sources": places_of(host), "cuda_sources": places_of(device)}}
    payload.update(asked({"extra_cflags": flags(extra_cflags), "extra_cuda_cflags": flags(extra_cuda_cflags),
                          "extra_ldflags": flags(extra_ldflags), "no_implicit_headers": no_implicit_headers,
                          "extra_include_paths": flags(extra_include_paths), "gil_not_used": gil_not_used}))
    return import_library(name, finished(payload), is_python_module)


def load(name, sources, extra_cflags=None, extra_cuda_cflags=None, extra_sycl_cflags=None, extra_ldflags=None,
         extra_include_paths=None, build_directory=None, verbose=False, with_cuda=None, with_sycl=None,
         is_python_module=True, is_standalone=False, keep_intermediates=True):
    if with_sycl or is_standalone:
        raise RuntimeError("kernevo: SYCL and programs of their own are not built here")
    files = read_files(listed(sources), flags(extra_include_paths))
    payload = {"name": name, "files": files, "gpu": architecture()}
    payload.update(asked({"extra_cflags": flags(extra_cflags), "extra_cuda_cflags": flags(extra_cuda_cflags),
                          "extra_ldflags": flags(extra_ldflags),
                          "extra_include_paths": [os.path.abspath(path) for path in flags(extra_include_paths)]}))
    return import_library(name, finished(payload), is_python_module)


def read_files(sources, include_paths):
    """The sources and the headers that they include by quoted names, below the folder that has them all."""
    found, waiting = {}, [Path(source).absolute() for source in sources]
    roots = {path.resolve() for path in waiting}
    while waiting:
        path = waiting.pop(0).resolve()
        if path in found:
            continue
        found[path] = path.read_text(encoding="utf-8", errors="surrogateescape")
        for name in INCLUDED.findall(found[path]):
            for folder in (path.parent, *include_paths):
                if (Path(folder) / name).is_file():
                    waiting.append(Path(folder) / name)
                    break
    top = Path(os.path.commonpath([path.parent for path in found]))
    return [{"name": str(path.relative_to(top)), "text": text, "source": path in roots} for path, text in found.items()]


def finished(payload):
    try:
        return builder(payload, cache_folder())
    except BuildError as error:
        raise BuildError(f"Error building extension '{payload['name']}': {error.text}", error.where,
                         error.detail) from None


def put_into(cpp_extension):
    """`cpp_extension`: torch's module. KERNEVO_EXTENSIONS=torch leaves it as it is."""
    if os.environ.get("KERNEVO_EXTENSIONS", "") == "torch":
        return
    cpp_extension.load_inline = load_inline
    cpp_extension.load = load

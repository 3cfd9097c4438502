"""Errors of one part that the whole program has for certain, so that nobody waits minutes for the referee to
say the same."""
import re
import subprocess

from kernevo_virtual.building.errors import as_error, errors_in

# A name that neither the program nor any header declares is missing everywhere.
MISSING = re.compile(r'identifier "(\w+)" is undefined|use of undeclared identifier \'(\w+)\'|unknown type name \'(\w+)\'')
# What a grammar alone says.
GRAMMAR = re.compile(r"expected (a|an) [\"';{}()\[\],\w -]+$|expected '[^']+'|expected (expression|unqualified-id|an? \w+)$|"
                     r"extraneous closing brace.*|unterminated .*|expected a (;|\)|declaration|statement|expression)")


def raise_if_certain(tools, program, said):
    """Of the device's part: what it says is verbatim the program's, and compiled by the same compiler."""
    error = as_error(said, program.files, "nvcc")
    found = [entry for entry in errors_in(said) if entry[0] in program.files]
    if found and certain(tools, program, found[0][2], of_device=True):
        raise error


def raise_if_certain_on_host(tools, program, said):
    found = [entry for entry in errors_in(said) if entry[0] in program.files]
    if found and certain(tools, program, found[0][2], of_device=False):
        raise as_error(said, program.files, "clang")


def certain(tools, program, text, of_device):
    if GRAMMAR.match(text):
        return True
    missing = MISSING.search(text)
    if missing:
        name = next(group for group in missing.groups() if group)
        return not declared(program, name) and not in_headers(tools, name)
    return False


def declared(program, name):
    """Whether the program itself may declare it: it stands behind a type, or in a macro's definition."""
    texts = [*(source.text for source in program.sources), *program.headers.values()]
    behind = re.compile(rf"[\w>&*,]\s+[&*]*{name}\b\s*[=;,(){{\[<:]|#\s*define\s+{name}\b|(struct|class|using|enum|namespace)\s+{name}\b|"
                        rf"##")
    return any(behind.search(text) for text in texts)


def in_headers(tools, name):
    folders = [tools.torch / "include", tools.toolkit / "include"]
    found = subprocess.run(["grep", "-rqwF", "--include=*.h", "--include=*.hpp", "--include=*.cuh", name,
                            *map(str, folders)], check=False, capture_output=True)
    return found.returncode != 1

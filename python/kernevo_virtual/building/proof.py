"""Errors of one part that the whole program has for certain, so that nobody waits minutes for the referee to
say the same."""
import re
import subprocess

from kernevo_virtual.building.errors import as_error, errors_in

# A name that neither the program nor any header declares is missing everywhere.
MISSING = re.compile(r'identifier "(\w+)" is undefined|use of undeclared identifier \'(\w+)\'|'
                     r"unknown type name '(\w+)'")
# What a grammar alone says.
GRAMMAR = re.compile(r"expected (a|an) [\"';{}()\[\],\w -]+$|expected '[^']+'|"
                     r"expected (expression|unqualified-id|an? \w+)$|"
                     r"extraneous closing brace.*|unterminated .*|expected a (;|\)|declaration|statement|expression)")


def raise_if_certain(tools, program, said, texts, compiler):
    """`texts`: what could declare a name for the part that `compiler` refused; the part itself is the first."""
    found = [entry for entry in errors_in(said) if entry[0] in program.files]
    if not found or compiler == "nvcc" and strange_macros(texts[0]):
        return
    # With few headers a macro that is not there looks like a mistake of grammar.
    if compiler != "clang, small" and GRAMMAR.match(found[0][2]) or missing_everywhere(tools, found[0][2], texts):
        raise as_error(said, program.files, compiler)


def strange_macros(text):
    """What looks like a macro of some header that the device's part does without."""
    return any(not re.search(rf"#\s*define\s+{name}\b", text)
               for name in set(re.findall(r"\b([A-Z][A-Z0-9_]{2,})\s*\(", text)))


def missing_everywhere(tools, text, texts):
    missing = MISSING.search(text)
    if missing is None:
        return False
    name = next(group for group in missing.groups() if group)
    return not declared(texts, name) and not in_headers(tools, name)


def declared(texts, name):
    """Whether the program itself may declare it: it stands behind a type, or in a macro's definition."""
    behind = re.compile(rf"[\w>&*,]\s+[&*]*{name}\b\s*[=;,(){{\[<:]|#\s*define\s+{name}\b|"
                        rf"(struct|class|using|enum|namespace)\s+{name}\b|##")
    return any(behind.search(text) for text in texts)


def in_headers(tools, name):
    folders = [tools.torch / "include", tools.toolkit / "include"]
    found = subprocess.run(["grep", "-rqwF", "--include=*.h", "--include=*.hpp", "--include=*.cuh", name,
                            *map(str, folders)], check=False, capture_output=True)
    return found.returncode != 1

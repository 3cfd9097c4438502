"""What compilers say, as lines about the program's own sources."""
import re

# clang and gcc: file:12:5: error: text    nvcc: file(12): error: text
SAID = re.compile(r"^(?P<file>[^\n:(]+?)(?::(?P<line>\d+)(?::\d+)?|\((?P<nvline>\d+)\)): "
                  r"(?P<kind>fatal error|catastrophic error|error|ptxas error)(?: #[\w-]+)?: (?P<text>.*)$")
MOST = 20


class BuildError(RuntimeError):
    """The program is at fault. `where`: file:line of the first error; `detail`: the compiler's lines."""

    def __init__(self, text, where=None, detail=()):
        self.text, self.where, self.detail = text, where, list(detail)
        lines = [f"{where}: {text}" if where else text, *self.detail[:MOST]]
        super().__init__("\n".join(lines))


def errors_in(said):
    """Each error as (file, line, text)."""
    found = []
    for line in said.splitlines():
        match = SAID.match(line)
        if match:
            entry = (match["file"], int(match["line"] or match["nvline"]), match["text"].strip())
            if entry not in found:
                found.append(entry)
    return found


def as_error(said, files, what):
    """The compiler's words as the program's error: its own lines first. `files`: the names of its sources."""
    found = errors_in(said)
    own = [entry for entry in found if entry[0] in files] or found
    if not own:
        lines = [line for line in said.splitlines() if line.strip()]
        last = lines[-1] if lines else ""
        bad = next((line for line in lines if "error" in line.lower() or "undefined" in line), last)
        return BuildError(f"{what} failed: {bad.strip()}" if bad else f"{what} failed", None, lines[:MOST])
    file, line, text = own[0]
    detail = [f"{name}:{number}: error: {words}" for name, number, words in own]
    return BuildError(text, f"{file}:{line}", detail)

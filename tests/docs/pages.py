"""Markdown pages as the tests need them: fenced blocks with their marks, links, code spans."""

import re
from dataclasses import dataclass, field
from pathlib import Path

SHELL_LANGUAGES = ("console", "sh")
SKIPPED_FOLDERS = re.compile(r"^(\..*|build.*|kernevo-runs)$")
FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})\s*(\S*)")
MARK = re.compile(r"^<!--\s*(.*?)\s*-->$")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
REPOSITORY_PATH = re.compile(r"^(src|tests|share|docs|examples|bench|scripts|cmake|python)/[\w./*-]*$")
SOURCE_FILE = re.compile(r"^[a-z][\w/]*\.(h|cpp|py)$")
# A word in capitals stands for a name.
PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b")


@dataclass
class Block:
    """A fenced block and the HTML comments right above it."""

    page: Path
    line: int  # of its first line of content
    language: str
    marks: list = field(default_factory=list)
    lines: list = field(default_factory=list)

    def mark(self, name):
        """What follows `name` in one of the comments above; None when there is no such comment."""
        for mark in self.marks:
            if mark == name or mark.startswith((name + " ", name + ":")):
                return mark[len(name) :].lstrip(": ")
        return None


@dataclass
class Page:
    path: Path
    blocks: list
    prose: list  # (line number, text) outside of fences


def find_pages(root):
    pages = []
    for path in sorted(root.rglob("*.md")):
        folders = path.relative_to(root).parts[:-1]
        if not any(SKIPPED_FOLDERS.match(folder) for folder in folders):
            pages.append(path)
    return pages


def read_page(path):
    page = Page(path, [], [])
    block, fence, marks = None, "", []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if block is not None:
            if line.strip() == fence:
                page.blocks.append(block)
                block = None
            else:
                block.lines.append(line)
            continue
        opening = FENCE.match(line)
        if opening:
            fence = opening[2]
            block = Block(path, number + 1, opening[3], marks)
            marks = []
            continue
        mark = MARK.match(line.strip())
        if mark:
            marks = marks + [mark[1]]
        elif line.strip():
            marks = []
        page.prose.append((number, line))
    if block is not None:
        raise ValueError(f"{path}:{block.line}: this fence is never closed")
    return page


def spans(page):
    for number, line in page.prose:
        for match in SPAN.finditer(line):
            yield number, match[1]


def slug(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(page):
    found, seen = set(), {}
    for _, line in page.prose:
        heading = re.match(r"^#{1,6}\s+(.*?)\s*#*$", line)
        if heading:
            anchor = slug(heading[1])
            count = seen.get(anchor, 0)
            seen[anchor] = count + 1
            found.add(anchor if count == 0 else f"{anchor}-{count}")
    return found


def broken_links(pages):
    by_path = {page.path.resolve(): page for page in pages}
    for page in pages:
        for number, line in page.prose:
            for match in LINK.finditer(SPAN.sub("", line)):
                target, _, anchor = match[1].partition("#")
                if re.match(r"^[a-z]+:", target):
                    continue
                place = (page.path.parent / target).resolve() if target else page.path.resolve()
                if not place.exists():
                    yield f"{page.path}:{number}: there is no {target}"
                elif anchor and place in by_path and anchor not in anchors(by_path[place]):
                    yield f"{page.path}:{number}: {target or 'this page'} has no heading #{anchor}"


def broken_paths(pages, root):
    """Code spans that look like files of this repository and are none."""
    sources = [
        "/" + path.relative_to(root).as_posix()
        for folder in ("src", "tests", "bench", "scripts", "examples", "python")
        for path in (root / folder).rglob("*.*")
    ]
    for page in pages:
        for number, text in spans(page):
            if REPOSITORY_PATH.match(text):
                pattern = PLACEHOLDER.sub("*", text).rstrip("/")
                known = any(root.glob(pattern))
            elif SOURCE_FILE.match(text):
                known = any(source.endswith("/" + text) for source in sources)
            else:
                continue
            if not known:
                yield f"{page.path}:{number}: there is no {text}"


def unmarked_commands(pages):
    """Commands that the test would not see: indented, or in a fence of another language."""
    for page in pages:
        for block in page.blocks:
            if block.language not in SHELL_LANGUAGES:
                for offset, line in enumerate(block.lines):
                    if re.match(r"^\s*(\$ )?kernevo ", line):
                        yield f"{page.path}:{block.line + offset}: a command outside of a sh or console block"
        for number, line in page.prose:
            if re.match(r"^( {4,}|\t)(\$ )?kernevo ", line):
                yield f"{page.path}:{number}: an indented command; use a sh or console block"


def shared_parts(page):
    """(other page, text) for each part between <!-- shared with FILE --> and <!-- end of shared -->."""
    lines = page.path.read_text().splitlines()
    parts, target, start = [], None, 0
    for index, line in enumerate(lines):
        mark = MARK.match(line.strip())
        if mark and mark[1].startswith("shared with "):
            target, start = mark[1][len("shared with ") :], index + 1
        elif mark and mark[1] == "end of shared" and target:
            parts.append((target, "\n".join(lines[start:index]).strip()))
            target = None
    if target:
        raise ValueError(f"{page.path}:{start}: the part shared with {target} has no end")
    return parts


def differing_parts(pages, root):
    for page in pages:
        for block in page.blocks:
            original = block.mark("same as")
            if original and (root / original).read_text().splitlines() != block.lines:
                yield f"{page.path}:{block.line}: this is not {original}"
        for target, text in shared_parts(page):
            other = root / target
            if not other.exists() or text not in other.read_text():
                yield f"{page.path}: the part shared with {target} is not there word for word"

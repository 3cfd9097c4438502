"""C++ after preprocessing as tokens, and the declarations that they make up."""
import re
from dataclasses import dataclass, field

# Space, markers of lines (# 12 "file"), directives that the preprocessor left, raw strings, texts, numbers,
# names, and whatever else one character at a time.
PATTERN = re.compile(
    r"""(?P<directive>(?:(?<=\n)|\A)[ \t]*\#[^\n]*)"""
    r"""|(?P<space>[ \t\r\f\v]+|\n)"""
    r"""|(?P<text>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\((?:.|\n)*?\)(?P=mark)\""""
    r"""|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+')"""
    r"""|(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)"""
    r"""|(?P<name>[A-Za-z_$]\w*)"""
    r"""|(?P<other>::|->|.)""", re.VERBOSE)
MARKER = re.compile(r'\s*#\s*(?:line\s+)?(\d+)\s+"((?:[^"\\]|\\.)*)"')
INCLUDE = re.compile(r"\s*#\s*pragma\s+kernevo_include\s+(.*\S)")
OPENING, CLOSING = "([{", ")]}"
ATTRIBUTES = frozenset(("__global__", "__device__", "__host__", "__constant__", "__shared__", "__managed__"))
MACROS = {"C10_HOST_DEVICE": ("__host__", "__device__"), "C10_DEVICE": ("__device__",), "C10_HOST": ("__host__",)}
KEYWORDS = frozenset((
    "struct", "class", "union", "enum", "typename", "template", "const", "constexpr", "static", "inline", "extern",
    "public", "private", "protected", "final", "auto", "void", "bool", "char", "short", "int", "long", "float",
    "double", "unsigned", "signed", "volatile", "operator", "using", "typedef", "alignas", "friend", "virtual",
    "explicit", "mutable", "thread_local", "__align__", "__restrict__", "__forceinline__", "__inline__"))
# What may have parentheses before a function's name, or after its parameters.
WITH_ARGUMENTS = re.compile(r"__launch_bounds__|C10_LAUNCH_BOUNDS_\d|__align__|alignas|__attribute__|decltype|"
                            r"__cluster_dims__|__maxnreg__|__block_size__|requires|noexcept|explicit|"
                            r"__declspec|throw|asm|typeof|__typeof__")


class CannotSplit(Exception):
    """The program does not come apart: whole compilers have to see it."""


@dataclass
class Token:
    kind: str
    text: str
    start: int  # in the text
    file: str
    line: int


def read_tokens(text):
    """Every token but space; the text between them stays in `text`."""
    tokens, file, line, at = [], "", 1, 0
    for match in PATTERN.finditer(text):
        at = match.end()
        kind, piece = match.lastgroup, match.group()
        if kind == "mark":
            kind = "text"
        if kind == "space":
            line += piece == "\n"
            continue
        marker = MARKER.match(piece) if kind == "directive" else None
        if marker:
            # The marker's own line end counts, too.
            file, line = marker[2], int(marker[1]) - 1
            continue
        tokens.append(Token(kind, piece, match.start(), file, line))
        line += piece.count("\n")
    if at != len(text):
        raise CannotSplit("characters that C++ does not know")
    return tokens


@dataclass
class Item:
    """A declaration, a directive, or a namespace with what is in it."""
    kind: str  # directive include namespace function class variable alias using other
    tokens: list
    attributes: frozenset = frozenset()
    names: frozenset = frozenset()  # that it declares
    body: int = -1  # the token that opens a function's or a class's body
    inside: list = field(default_factory=list)
    end: list = field(default_factory=list)  # a namespace's closing tokens

    def all_names(self):
        return names_in(self.tokens)

    @property
    def device_only(self):
        return "__device__" in self.attributes and "__host__" not in self.attributes


def names_in(tokens):
    return {token.text for token in tokens if token.kind == "name"} - KEYWORDS


def closing(tokens, at):
    """The token that closes what the one at `at` opens."""
    depth = 0
    for index in range(at, len(tokens)):
        text = tokens[index].text
        if tokens[index].kind == "other":
            depth += text in OPENING
            depth -= text in CLOSING
            if depth == 0:
                return index
    raise CannotSplit("a bracket is never closed")


def after_angles(tokens, at):
    """Behind the template's parameters that begin at `at` ('<')."""
    depth = 0
    while at < len(tokens):
        text = tokens[at].text if tokens[at].kind == "other" else ""
        if text and text in OPENING:
            at = closing(tokens, at)
        elif text == "<":
            depth += 1
        elif text == ">":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    raise CannotSplit("a template's parameters never end")


def read_items(tokens, at=0, inside=False):
    """The declarations from `at` on, and where they end."""
    items = []
    while at < len(tokens):
        token = tokens[at]
        if token.kind == "directive":
            kind = "include" if INCLUDE.match(token.text) else "directive"
            items.append(Item(kind, [token]))
            at += 1
        elif token.text == "}" and token.kind == "other":
            if not inside:
                raise CannotSplit("a bracket closes nothing")
            return items, at
        elif token.text == ";":
            at += 1
        else:
            item, at = read_item(tokens, at)
            items.append(item)
    if inside:
        raise CannotSplit("a bracket is never closed")
    return items, at


def container_head(tokens, at):
    """Where a namespace's or extern "C"'s body opens, or None."""
    index = at
    if tokens[index].text == "inline" and index + 1 < len(tokens):
        index += 1
    if tokens[index].text == "namespace":
        while index < len(tokens) and tokens[index].text not in ("{", ";", "="):
            index = closing(tokens, index) + 1 if tokens[index].text in ("(", "[") else index + 1
        return index if index < len(tokens) and tokens[index].text == "{" else None
    if tokens[at].text == "extern" and at + 2 < len(tokens) and tokens[at + 1].kind == "text":
        return at + 2 if tokens[at + 2].text == "{" else None
    return None


def read_item(tokens, at):
    opens = container_head(tokens, at)
    if opens is not None:
        inside, end = read_items(tokens, opens + 1, inside=True)
        return Item("namespace", tokens[at:opens + 1], inside=inside, end=[tokens[end]]), end + 1
    return read_declaration(tokens, at)


def read_declaration(tokens, begin):
    at = begin
    attributes, parameters, classes = set(), None, False
    assigned = initialised = operator = False
    body = -1
    while at < len(tokens):
        token = tokens[at]
        text = token.text
        if token.kind == "name":
            if text in ATTRIBUTES:
                attributes.add(text)
            attributes.update(MACROS.get(text, ()))
            operator = operator or text == "operator"
            if text == "template" and at + 1 < len(tokens) and tokens[at + 1].text == "<":
                at = after_angles(tokens, at + 1)
                continue
            if WITH_ARGUMENTS.fullmatch(text) and at + 1 < len(tokens) and tokens[at + 1].text == "(":
                at = closing(tokens, at + 1) + 1
                continue
            of_class = parameters is None and not assigned and text in ("struct", "class", "union", "enum")
            classes = classes or of_class
        elif token.kind == "other":
            if text == ";":
                return finish(tokens, begin, at + 1, attributes, parameters, classes, body, operator), at + 1
            if text == "=" and not operator:
                assigned = True
            elif text == ":" and parameters is not None:
                initialised = True
            elif text == "}":
                # Of an enclosing class: its last member may want the semicolon that ends it.
                raise CannotSplit("a declaration has no end")
            elif text in ("(", "["):
                end = closing(tokens, at)
                # operator()(...): the second group has the parameters.
                named = tokens[at - 1].text == "operator" if at > begin else False
                if text == "(" and parameters is None and not assigned and not named:
                    parameters = at
                at = end
            elif text == "{":
                end = closing(tokens, at)
                before = tokens[at - 1]
                member = initialised and (before.kind == "name" or before.text == ">")
                if parameters is not None and not assigned and not member:
                    return finish(tokens, begin, end + 1, attributes, parameters, classes, at, operator), end + 1
                if classes and parameters is None and not assigned and body < 0:
                    body = at
                at = end
        at += 1
    raise CannotSplit("a declaration has no end")


def finish(tokens, begin, end, attributes, parameters, classes, body, operator):
    whole = tokens[begin:end]
    opens = body - begin if body >= 0 else -1
    first = whole[0].text
    if first in ("using", "typedef") or (first == "namespace"):
        kind = "using" if first == "using" and whole[1].text == "namespace" else "alias"
        return Item(kind, whole, frozenset(attributes), alias_names(whole))
    if parameters is not None:
        return Item("function", whole, frozenset(attributes),
                    function_names(whole, parameters - begin, operator), opens)
    if classes:
        return Item("class", whole, frozenset(attributes), class_names(whole, opens), opens)
    # Of a variable every name before its value may be its own.
    value = next((index for index, token in enumerate(whole) if token.text == "="), len(whole))
    return Item("variable", whole, frozenset(attributes), frozenset(names_in(whole[:value])))


def alias_names(tokens):
    if tokens[0].text == "using" and tokens[2].text == "=" or tokens[0].text == "namespace":
        return frozenset((tokens[1].text,))
    names = [token.text for token in tokens if token.text in names_in(tokens)]
    # typedef int (*name)(...): any of them may be it.
    return frozenset(names if any(token.text == "(" for token in tokens) else names[-1:])


def function_names(tokens, parameters, operator):
    if operator:
        return frozenset(names_in(tokens[:parameters]))
    at = parameters - 1
    if tokens[at].text == ">":  # name<...>(: an instantiation or a specialisation
        depth = 0
        while at >= 0:
            depth += tokens[at].text == ">"
            depth -= tokens[at].text == "<"
            at -= 1
            if depth == 0:
                break
    names = set()
    while at >= 0 and tokens[at].kind == "name":
        names.add(tokens[at].text)
        if at < 2 or tokens[at - 1].text != "::":
            break
        at -= 2
    return frozenset(names - KEYWORDS)


def class_names(tokens, opens):
    at = next(index for index, token in enumerate(tokens) if token.text in ("struct", "class", "union", "enum"))
    if tokens[at].text == "enum":
        return frozenset(names_in(tokens))
    names = names_in(tokens[at:opens if opens > 0 else len(tokens)])
    if opens > 0:  # struct {...} name;
        names |= names_in(tokens[closing(tokens, opens):])
    return frozenset(names)

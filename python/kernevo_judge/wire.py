"""Messages: eight bytes of length, little-endian, and as many of UTF-8 JSON."""
import json
import math
import os

MOST = 1 << 30  # bytes of a message between the judge and its stage
# A program may have patched the modules by the time its reply is sent.
DUMPS, LOADS, READ, WRITE = json.dumps, json.loads, os.read, os.write


class Torn(Exception):
    """A message that is no message, or longer than it may be."""


def plain(value):
    """As JSON has it: numbers that it lacks become "nan", "inf" and "-inf"."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value


def pack(value):
    text = DUMPS(plain(value), allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")
    return len(text).to_bytes(8, "little") + text


def unpack(text):
    try:
        return LOADS(text)
    except (ValueError, RecursionError) as problem:
        raise Torn("a message is not JSON") from problem


def take(buffer, most=MOST):
    """Removes the first whole message from a bytearray and gives its value, or None where it is not all
    there yet."""
    if len(buffer) < 8:
        return None
    length = int.from_bytes(buffer[:8], "little")
    if length > most:
        raise Torn(f"a message of {length} bytes is longer than the {most} it may have")
    if len(buffer) < 8 + length:
        return None
    text = bytes(buffer[8:8 + length])
    del buffer[:8 + length]
    return unpack(text)


def send(descriptor, value):
    rest = memoryview(pack(value))
    while rest:
        rest = rest[WRITE(descriptor, rest):]


def receive(descriptor, most=MOST):
    """The next message, or None where the other side has closed."""
    buffer = bytearray()
    while True:
        value = take(buffer, most)
        if value is not None:
            return value
        whole = 8 if len(buffer) < 8 else 8 + int.from_bytes(buffer[:8], "little")
        part = READ(descriptor, min(whole - len(buffer), 1 << 20))
        if not part:
            if buffer:
                raise Torn("a message ends before its end")
            return None
        buffer += part

"""What a request can end with instead of an answer."""


class Fault(Exception):
    """Kinds are those of the wire; `where` is "file.py:12" and `detail` holds further lines."""

    def __init__(self, kind, text, where=None, detail=()):
        super().__init__(text)
        self.kind, self.text, self.where, self.detail = kind, text, where, list(detail)

    def record(self):
        return {"kind": self.kind, "text": self.text, "where": self.where, "detail": self.detail}

"""What candidates must not know, for the jobs that need it. It comes in a file: what the stage reads of a request stays
in its memory, which candidates that are forked later inherit."""
import os

from .fault import Fault


def secret_of(request):
    """A text; another one each time where none was given."""
    path = request.get("secret_file")
    if path is None:
        return os.urandom(16).hex()
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as problem:
        raise Fault("machine", f"the secret cannot be read: {problem}") from problem

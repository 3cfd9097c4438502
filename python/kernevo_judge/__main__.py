"""`python -m kernevo_judge`: requests come and replies go on descriptor 3."""
import os
import sys

# Instead of the folder that somebody works in.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = False  # without it the imports take thrice as long, each time

from kernevo_judge import stage, wire

CHANNEL = 3


def main():
    # Nothing that others print may meet the channel, and nobody started by us may have it.
    os.set_inheritable(CHANNEL, False)
    try:
        made = stage.Stage(CHANNEL)
    except BaseException as problem:  # pylint: disable=broad-except
        wire.send(CHANNEL, {"hello": 0, "error": stage.trouble(problem)})
        return 3
    wire.send(CHANNEL, made.hello())
    made.serve()
    return 0


if __name__ == "__main__":
    try:
        CODE = main()
    except SystemExit as end:  # the channel closed while a job was under way
        CODE = end.code
    os._exit(CODE)  # what was imported is not taken apart

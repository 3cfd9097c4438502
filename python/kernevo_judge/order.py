"""Whether a recording orders what it must: two operations of different streams that use the same memory, one of them
writing it, with no event and no synchronisation between them may run in either order on a GPU. Virtual streams run
in one order, so nothing else would show it."""
from .fault import Fault


def joined(one, other):
    for stream, number in other.items():
        if number > one.get(stream, 0):
            one[stream] = number


class Uses:
    """Of one allocation: the pieces written and read that later operations may have to come after."""

    MOST = 64

    def __init__(self):
        self.writes, self.reads = [], []  # (first, last, stream, number)

    @staticmethod
    def add(to, piece):
        # What the same stream did with no less of it before is no longer needed.
        first, last, stream, _ = piece
        to[:] = [one for one in to if one[2] != stream or one[0] < first or one[1] > last]
        if len(to) >= Uses.MOST:  # fewer, larger pieces
            first, last = min(first, *(one[0] for one in to)), max(last, *(one[1] for one in to))
            to[:] = [one for one in to if one[2] != stream]
        to.append((first, last, stream, piece[3]))


class Order:
    """Goes along with the lines. Clocks count the operations of each stream."""

    def __init__(self):
        self.kinds = {0: "legacy"}
        self.clocks = {0: {}}
        self.host = {}
        self.points = {}
        self.uses = {}

    def stream(self, number, kind):
        self.kinds[number] = kind
        self.clocks.setdefault(number, {})

    def _ready(self, stream):
        """The stream's clock, behind what it waits for by itself."""
        clock = self.clocks.setdefault(stream, {})
        joined(clock, self.host)
        kind = self.kinds.get(stream, "free")
        if kind == "legacy":
            for other, known in self.clocks.items():
                if self.kinds.get(other) == "blocking":
                    joined(clock, known)
        elif kind == "blocking":
            joined(clock, self.clocks[0])
        return clock

    def operation(self, stream, what, reads, writes):
        """`reads` and `writes` are pieces (allocation, first, last)."""
        clock = self._ready(stream)
        for allocation, first, last in reads:
            self._check(clock, stream, what, self.uses.get(allocation), first, last, False)
        for allocation, first, last in writes:
            self._check(clock, stream, what, self.uses.get(allocation), first, last, True)
        clock[stream] = number = clock.get(stream, 0) + 1
        for pieces, which in ((reads, "reads"), (writes, "writes")):
            for allocation, first, last in pieces:
                uses = self.uses.setdefault(allocation, Uses())
                Uses.add(getattr(uses, which), (first, last, stream, number))

    def _check(self, clock, stream, what, uses, first, last, writes):
        if uses is None:
            return
        before = uses.writes + uses.reads if writes else uses.writes
        for start, end, other, number in before:
            if other != stream and start < last and first < end and clock.get(other, 0) < number:
                other_does = "uses" if writes else "writes"
                raise Fault("unordered", f"{what} uses memory that work of another stream {other_does}, and neither "
                            "waits for the other: record an event and wait for it")

    def record(self, stream, point):
        self.points[point] = dict(self._ready(stream))

    def wait(self, stream, point):
        joined(self._ready(stream), self.points.get(point, {}))

    def sync(self, of, stream, point):
        if of == "point":
            joined(self.host, self.points.get(point, {}))
        elif of == "stream":
            joined(self.host, self._ready(stream))
        else:
            for number in list(self.clocks):
                joined(self.host, self.clocks[number])

    def end(self):
        """Whoever reads the results does so in the default stream."""
        clock = self._ready(0)
        for stream, known in self.clocks.items():
            if clock.get(stream, 0) < known.get(stream, 0):
                raise Fault("unordered", "forward returns while another stream is still at work, and the current "
                            "stream does not wait for it: current_stream().wait_stream(...) before returning")

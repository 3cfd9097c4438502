"""The sizes a task is judged at: small, odd, middle, the largest that fits, and the real ones."""

from . import sizes as rebinding
from .fault import Fault
from .sizes import Sizes

FACTORS = [2**power for power in range(14)]
SMALL = {"products": 30e6, "elements": 1e6}
MIDDLE = {"products": 200e6, "elements": 8e6}
SECONDS = 20
THIN = 16  # statistics of fewer elements are noise: what follows from them has few digits in any precision


class Case:
    def __init__(self, kind, values, footprint, real):
        self.kind, self.values, self.footprint = kind, values, footprint
        self.changed = {name: value for name, value in values.items() if value != real[name]}

    def record(self):
        return {"id": self.kind, "kind": self.kind, "globals": self.changed, **self.footprint.record()}


class CaseFinder:
    """Tries sizes on the meta device and keeps what the module can do. All it knows of sizes is in
    sizes.py."""

    def __init__(self, task_file, surveyor, memory, train=True):
        self.surveyor = surveyor
        self.memory, self.train = memory, train
        self.sizes = Sizes(task_file, self.surveyor.module({}))
        self.known = {}
        self.real_fault = None

    def footprint(self, values):
        """None where the module does not work at these sizes."""
        key = self.key(values)
        if key not in self.known:
            try:
                found = self.surveyor.take(self.changed(values), self.train)
                real = self.known.get(self.key(self.sizes.real))
                self.known[key] = (
                    found if real is None or found.thinnest >= min(THIN, real.thinnest) else None
                )
            except Fault as fault:
                self.known[key] = None
                self.real_fault = self.real_fault or fault
        return self.known[key]

    @staticmethod
    def key(values):
        return repr(sorted(values.items()))

    def changed(self, values):
        return {name: value for name, value in values.items() if value != self.sizes.real[name]}

    def within(self, footprint, budget):
        return (
            footprint.products <= budget["products"]
            and footprint.elements <= budget["elements"]
            and footprint.memory <= self.memory
        )

    def fits(self, footprint):
        return footprint.seconds <= SECONDS and footprint.memory <= self.memory

    def real(self):
        real = self.sizes.real
        footprint = self.footprint(real)
        if footprint is None:
            raise self.real_fault
        return Case("real", real, footprint, real)

    def largest(self, ways, enough):
        """The largest sizes, by the first way that has any, which are small enough; else the least
        work found."""
        least = None
        for way in ways:
            best, low, high = None, 0, len(FACTORS)
            last = self.footprint(way(FACTORS[-1]))
            if last is not None and not enough(last):
                least = (
                    (way(FACTORS[-1]), last) if least is None or last.seconds < least[1].seconds else least
                )
                continue
            while low < high:
                middle = (low + high) // 2
                values = way(FACTORS[middle])
                footprint = self.footprint(values)
                if footprint is not None and (least is None or footprint.seconds < least[1].seconds):
                    least = values, footprint
                if footprint is None or enough(footprint):
                    # Sizes that do not work are too small for this module, as far as anybody can tell.
                    best = (values, footprint) if footprint is not None else best
                    high = middle
                else:
                    low = middle + 1
            if best is not None:
                return best
        return least

    def small_ways(self):
        real, every, data, batches = (
            self.sizes.real,
            list(self.sizes.real),
            self.sizes.data_only(),
            self.sizes.batches(),
        )
        pictures = [name for name in data if name not in batches]
        return [
            lambda f: rebinding.shrink(real, every, f, keep=64),
            lambda f: rebinding.shrink(real, every, f),
            lambda f: rebinding.shrink_alike(real, every, f),
            lambda f: rebinding.shrink(real, data, f),
            lambda f: rebinding.shrink(real, batches, f),
            lambda f: rebinding.shrink(real, pictures, f),
            lambda f: rebinding.shrink(real, every, f, batch_floor=1),
            lambda f: rebinding.shrink(real, batches, f, batch_floor=1),
        ]

    def near_ways(self):
        real, every, data, batches = (
            self.sizes.real,
            list(self.sizes.real),
            self.sizes.data_only(),
            self.sizes.batches(),
        )
        return [
            lambda f: rebinding.shrink(real, batches, f, batch_floor=1),
            lambda f: rebinding.shrink(real, data, f, batch_floor=1),
            *self.small_ways(),
        ]

    def odd(self, small):
        """Ragged sizes near the small ones: all of them, those of the data, or one after the other."""
        enough = {"products": 4 * SMALL["products"], "elements": 4 * SMALL["elements"]}
        ground = self.footprint(small)

        def works(values):
            footprint = self.footprint(values)
            return footprint is not None and (
                self.within(footprint, enough)
                or footprint.seconds <= 3 * ground.seconds
                and self.fits(footprint)
            )

        for names in (list(self.sizes.real), self.sizes.data_only()):
            values = rebinding.ragged(small, names)
            if values != small and works(values):
                return values
        values = small
        for name in self.sizes.real:
            trial = rebinding.ragged(values, [name])
            values = trial if trial != values and works(trial) else values
        return values

    def all(self):
        real = self.real()
        found = [real]

        def add(kind, values, at):
            footprint = self.footprint(values)
            if footprint is not None and all(values != case.values for case in found):
                found.insert(at, Case(kind, values, footprint, self.sizes.real))
                return at + 1
            return at

        at = 0
        if self.sizes.real:
            small = self.largest(self.small_ways(), lambda one: self.within(one, SMALL))[0]
            at = add("small", small, at)
            at = add("odd", self.odd(small), at)
            middle = self.largest(self.small_ways(), lambda one: self.within(one, MIDDLE))[0]
            at = add("middle", middle, at)
            if not self.fits(real.footprint):
                add("scaled", self.largest(self.near_ways(), self.fits)[0], at)
        return found

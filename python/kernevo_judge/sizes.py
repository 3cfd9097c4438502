"""Which module-level sizes of a task can take other values, and which values to try: arithmetic, no
torch."""

import ast
import math
import symtable

LITERAL = "get_inputs:"  # and a number: that number where get_inputs has it without a name
SMALL_NUMBER = 8  # what is no larger is a rank, a kernel's width, a count of layers: not a size


class Sizes:
    """The names of a task that hold sizes, with their real values (integers, or tuples and lists of
    them)."""

    def __init__(self, task_file, module):
        used = names_read_by(task_file, {"get_inputs", "get_init_inputs"})
        in_classes = names_read_elsewhere(task_file, {"get_inputs", "get_init_inputs"})
        self.real = {}
        for name in constants(task_file.tree):
            value = getattr(module, name, None)
            if name in used and name not in in_classes and is_size(value):
                self.real[name] = value
        for node in literals(task_file, task_file.tree):
            self.real[LITERAL + str(node.value)] = node.value
        shapes = names_read_by(task_file, {"get_inputs"}) | {
            name for name in self.real if name.startswith(LITERAL)
        }
        self.of_data = {name for name in self.real if name in shapes}
        self.of_weights = {
            name for name in self.real if name in names_read_by(task_file, {"get_init_inputs"})
        }

    def data_only(self):
        """Sizes that no weight depends on: with other values of these the module is the same module."""
        return [name for name in self.real if name in self.of_data and name not in self.of_weights]

    def batches(self):
        return [name for name in self.real if name in self.of_data and is_batch(name)] or self.data_only()[:1]


def constants(tree):
    """Names bound once at module level by a plain assignment."""
    count = {}
    for statement in tree.body:
        targets = (
            statement.targets
            if isinstance(statement, ast.Assign)
            else (
                [statement.target]
                if isinstance(statement, ast.AnnAssign) and statement.value is not None
                else []
            )
        )
        for target in targets:
            value = statement.value
            if isinstance(target, ast.Name):
                # A size computed from another follows that one.
                count[target.id] = 2 if reads_names(value) else count.get(target.id, 0) + 1
            elif (
                isinstance(target, ast.Tuple)
                and isinstance(value, ast.Tuple)
                and len(target.elts) == len(value.elts)
            ):
                for one, of in zip(target.elts, value.elts):
                    if isinstance(one, ast.Name):
                        count[one.id] = 2 if reads_names(of) else count.get(one.id, 0) + 1
    return [name for name, times in count.items() if times == 1]


def reads_names(value):
    return any(isinstance(node, (ast.Name, ast.Call, ast.Attribute)) for node in ast.walk(value))


def literals(task_file, tree):
    """The numbers that get_inputs, or a shape made for it, has without a name, and that are large
    enough to be sizes."""
    shapes = names_read_by(task_file, {"get_inputs"}) - names_read_elsewhere(
        task_file, {"get_inputs", "get_init_inputs"}
    )
    places = []
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "get_inputs":
            places += statement.body
        elif (
            isinstance(statement, ast.Assign)
            and isinstance(statement.value, (ast.Tuple, ast.List))
            and reads_names(statement.value)
            and all(isinstance(target, ast.Name) and target.id in shapes for target in statement.targets)
        ):
            places.append(statement.value)
    return [
        node
        for place in places
        for node in ast.walk(place)
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value >= 16
    ]


def is_size(value):
    if isinstance(value, (tuple, list)):
        return bool(value) and all(is_size(one) for one in value)
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def is_batch(name):
    return "batch" in name.lower() or name.lower() in ("b", "bs")


def scopes(task_file):
    """Every function and class of the module with the module-level names it reads (nested ones
    included)."""

    def globals_of(table):
        found = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
        return (
            found.union(*(globals_of(child) for child in table.get_children()))
            if table.get_children()
            else found
        )

    top = symtable.symtable(task_file.text, task_file.path, "exec")
    return {child.get_name(): globals_of(child) for child in top.get_children()}


def names_read_by(task_file, starts):
    """What these functions read, directly, through functions they call and through constants made of
    others."""
    of_scope = scopes(task_file)
    of_constant = {}
    for statement in task_file.tree.body:
        if isinstance(statement, ast.Assign):
            read = {node.id for node in ast.walk(statement.value) if isinstance(node, ast.Name)}
            for target in statement.targets:
                for node in ast.walk(target):
                    if isinstance(node, ast.Name):
                        of_constant.setdefault(node.id, set()).update(read)
    seen, left = set(), list(starts)
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += of_scope.get(name, set()) | of_constant.get(name, set())
    return seen - set(starts)


def names_read_elsewhere(task_file, apart):
    """What is read outside of these functions: a candidate has its own copy of it, which stays as it is."""
    others = set(scopes(task_file)) - apart
    helpers = names_read_by(task_file, apart)
    return names_read_by(task_file, {name for name in others if name not in helpers or name == "Model"})


def each(value, change):
    return (
        type(value)(each(one, change) for one in value) if isinstance(value, (tuple, list)) else
        change(value)
    )


def shrink(sizes, names, factor, batch_floor=2, keep=0):
    """Every named size divided by the factor: multiples of 16 and not under 16, batches not under
    their floor, sizes up to `keep` as they are."""

    def smaller(name):
        def one(value):
            least = batch_floor if is_batch(name) else 16
            if value <= max(
                least, SMALL_NUMBER if not is_batch(name) else 0, keep if not is_batch(name) else 0
            ):
                return value
            less = value // factor
            if not is_batch(name) and less >= 16:
                less -= less % 16
            return max(least, less)

        return one

    return {name: each(value, smaller(name)) if name in names else value for name, value in sizes.items()}


def shrink_alike(sizes, names, factor, floor=4):
    """Every named size divided by the factor, equal ones staying equal."""

    def one(value):
        return value if value <= SMALL_NUMBER else max(floor, value // factor)

    return {name: each(value, one) if name in names else value for name, value in sizes.items()}


def ragged(sizes, names):
    """Every named size a prime close above it, and batches of 3: equal ones stay equal."""

    def change(name):
        if is_batch(name):
            return lambda value: 3 if value <= 16 else next_prime(value)
        return lambda value: value if value <= SMALL_NUMBER else next_prime(value + 1)

    return {name: each(value, change(name)) if name in names else value for name, value in sizes.items()}


def next_prime(value):
    while any(value % divisor == 0 for divisor in range(2, math.isqrt(value) + 1)):
        value += 1
    return value

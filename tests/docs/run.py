#!/usr/bin/env python3
"""Holds the Markdown pages against the program: README.md beside this file says how pages are written.

    run.py pages SOURCE             links, anchors, files that are named, parts that pages share
    run.py commands SOURCE PROGRAM  the commands of the pages, run in fresh folders
"""

import argparse
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import commands
import pages

# History, not instructions.
NOT_FOLLOWED = ("CHANGELOG.md",)
AT_ONCE = 2


def check_pages(root):
    all_pages = [pages.read_page(path) for path in pages.find_pages(root)]
    problems = list(pages.broken_links(all_pages))
    problems += pages.broken_paths(all_pages, root)
    problems += pages.unmarked_commands(all_pages)
    problems += pages.differing_parts(all_pages, root)
    for problem in problems:
        print(problem)
    print(f"{len(all_pages)} pages read, {len(problems)} problems")
    return not problems and len(all_pages) > 0


class Tally:
    def __init__(self):
        self.problems = []
        self.ran = []  # (seconds, command)
        self.left_out = Counter()

    def report(self, verbose):
        if verbose:
            for seconds, command in sorted(self.ran, key=lambda row: -row[0]):
                print(f"{seconds:6.1f} s  {command.place}  {command.text}")
        for problem in self.problems:
            print(problem + "\n")
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.left_out.most_common())
        left_out = sum(self.left_out.values())
        print(f"{len(self.ran)} commands ran, {left_out} did not ({reasons}); {len(self.problems)} problems")
        return not self.problems and len(self.ran) > 0


def follow(chain, workshop, tally):
    needs_run = any("RUN" in line for block in chain for line in block.lines)
    folder = workshop.fresh_folder(needs_run)
    for block in chain:
        for command in commands.commands_of(block):
            if not command.is_ours:
                continue
            code, said, seconds = workshop.run(commands.filled(command.text), folder)
            tally.ran.append((seconds, command))
            problem = commands.problem_of(command, code, said, folder)
            if problem:
                tally.problems.append(problem)
                return


def look_at(block, root, options, tally):
    """What can be said of a block without running it; whether it is to be run."""
    reason = block.mark("not run")
    for command in commands.commands_of(block):
        problems = [f"{command.place}: {problem}" for problem in options.problems(command.text)]
        if not command.is_ours:
            problems += filter(None, [commands.problem_of_other(command, root)])
        tally.problems += problems
        if reason is not None:
            tally.left_out[reason] += 1
        elif not command.is_ours:
            tally.left_out["not a command of ours"] += 1
    if reason == "":
        tally.problems.append(f"{block.page}:{block.line}: not run, but no reason is given")
    return reason is None and any(command.is_ours for command in commands.commands_of(block))


def check_commands(root, program, verbose=False, only=None):
    missing = commands.missing_compiler(program)
    if missing:
        print(f"SKIP: {missing}")
        return True
    options = commands.Options(program)
    tally = Tally()
    to_run = []
    shown = set()
    for path in pages.find_pages(root):
        if path.name in NOT_FOLLOWED or (only and path != only):
            continue
        page = pages.read_page(path)
        for number, text in pages.spans(page):
            tally.problems += [f"{path}:{number}: {problem}" for problem in options.problems(text)]
        blocks = [block for block in page.blocks if block.language in pages.SHELL_LANGUAGES]
        shown.update(name for block in blocks for name in options.named(block.lines))
        to_run += commands.chains([block for block in blocks if look_at(block, root, options, tally)])
    if not only:
        tally.problems += [f"no page shows 'kernevo {name}'" for name in sorted(options.subcommands - shown)]
    with tempfile.TemporaryDirectory(prefix="kernevo-docs-") as folder:
        workshop = commands.Workshop(program, root, Path(folder))
        workshop.make_run()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda chain: follow(chain, workshop, tally), to_run))
    return tally.report(verbose)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["pages", "commands"])
    parser.add_argument("source", type=Path)
    parser.add_argument("program", type=Path, nargs="?")
    parser.add_argument("--verbose", action="store_true", help="every command and how long it took")
    parser.add_argument("--page", type=Path, help="the commands of this page only")
    arguments = parser.parse_args()
    if arguments.what == "pages":
        return check_pages(arguments.source.resolve())
    if arguments.program is None:
        parser.error("commands need the program")
    only = arguments.page.resolve() if arguments.page else None
    return check_commands(arguments.source.resolve(), arguments.program.resolve(), arguments.verbose, only)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)

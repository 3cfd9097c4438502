#!/usr/bin/env python3
"""The tests of pages on made-up pages: what is right passes, and each kind of mistake is found."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import commands
import pages
import run

# Stands in for the program: counts words and ends as it is told. What makes a run is there, but not listed.
PROGRAM = r"""#!/bin/sh
case "$*" in
  --help) printf 'Subcommands:\n  count   Count\n' ;;
  "count --help") printf 'Options:\n  --end CODE\n  -q,--quiet\n' ;;
  evolve*) mkdir -p kernevo-runs/softmax ;;
  count*) shift; echo "counted $# words in 12.5 ms"; echo "where: $PWD"; [ "$1" != --end ] || exit "$2" ;;
esac
"""


class MadeUpTree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        self.write("examples/softmax/task.yaml", "")
        self.write("Makefile", "test: build\n")
        for source in commands.OWN_FILES.values():
            self.write(source, "")
        self.program = self.write("bin/kernevo", PROGRAM)
        self.program.chmod(0o755)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def pages_say(self, text):
        self.write("page.md", text)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            good = run.check_pages(self.root)
        return good, said.getvalue()

    def commands_say(self, text):
        self.write("page.md", text)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            good = run.check_commands(self.root, self.program)
        return good, said.getvalue()

    def assert_found(self, answer, text):
        good, said = answer
        self.assertFalse(good, said)
        self.assertIn(text, said)

    def assert_fine(self, answer, text=""):
        good, said = answer
        self.assertTrue(good, said)
        self.assertIn(text, said)


class Commands(MadeUpTree):
    def test_what_is_shown_is_said_whatever_the_numbers(self):
        self.assert_fine(
            self.commands_say("```console\n$ kernevo count a b\ncounted 7 words in 3 s\n...\n```\n"),
            "1 commands ran, 0 did not",
        )

    def test_a_changed_output_is_found(self):
        self.assert_found(
            self.commands_say("```console\n$ kernevo count a b\ncounted 2 letters in 3 s\n...\n```\n"),
            "does not say what the page shows",
        )

    def test_output_that_is_left_out_needs_dots(self):
        self.assert_found(self.commands_say("```console\n$ kernevo count a\ncounted 1 words in 3 s\n```\n"), "where: .")
        self.assert_fine(self.commands_say("```console\n$ kernevo count a\ncounted 1 words in 3 s\nwhere: .\n```\n"))

    def test_exit_codes(self):
        self.assert_found(self.commands_say("```sh\nkernevo count --end 1\n```\n"), "ended with 1 instead of 0")
        self.assert_fine(self.commands_say("<!-- exit 1 -->\n```sh\nkernevo count --end 1\n```\n"))
        self.assert_found(self.commands_say("<!-- exit 1 -->\n```sh\nkernevo count a\n```\n"), "ended with 0 instead of 1")

    def test_what_is_not_run_is_counted_and_its_options_are_known(self):
        page = "```sh\nkernevo count a\n```\n<!-- not run: needs a model -->\n```sh\nkernevo count --quiet\n```\n"
        self.assert_fine(self.commands_say(page), "1 commands ran, 1 did not (1 needs a model)")
        self.assert_found(self.commands_say(page.replace("--quiet", "--quite")), "kernevo count has no option --quite")
        self.assert_found(self.commands_say(page.replace("count --", "cuont --")), "there is no command 'kernevo cuont'")
        self.assert_found(self.commands_say(page.replace("not run: needs a model", "not run")), "no reason is given")

    def test_options_in_prose(self):
        page = "Try `kernevo count --quite`.\n```sh\nkernevo count a\n```\n"
        self.assert_found(self.commands_say(page), "page.md:1: kernevo count has no option --quite")

    def test_make_targets(self):
        page = "```sh\nmake test\nkernevo count a\n```\n"
        self.assert_fine(self.commands_say(page))
        self.assert_found(self.commands_say(page.replace("make test", "make tests")), "no target tests")

    def test_every_command_is_shown_somewhere(self):
        self.program.write_text(PROGRAM.replace("count   Count\\n", "count   Count\\n  weigh   Weigh\\n"))
        self.assert_found(self.commands_say("```sh\nkernevo count a\n```\n"), "no page shows 'kernevo weigh'")

    def test_pages_without_commands_are_no_success(self):
        self.assertFalse(self.commands_say("Nothing here.\n")[0])

    def test_blocks_have_folders_of_their_own_unless_they_continue(self):
        first = "```sh\nkernevo count a > made.txt\n```\n"
        second = "```sh\nkernevo count < made.txt\n```\n"
        self.assert_found(self.commands_say(first + second), "made.txt")
        self.assert_fine(self.commands_say(first + "<!-- continues -->\n" + second))

    def test_long_lines_may_be_broken_anywhere(self):
        self.assertIsNone(commands.mismatch(["one two", "three"], "one\ntwo three\n"))
        self.assertIsNone(commands.mismatch(["one…", "...", "four"], "one two three\nthree\nfour"))
        self.assertIsNotNone(commands.mismatch(["one", "...", "two"], "one three two four"))


class Pages(MadeUpTree):
    def test_links_and_anchors(self):
        self.write("docs/other.md", "# Some `code`, and more\n")
        self.assert_fine(self.pages_say("[a](docs/other.md#some-code-and-more) [b](https://example.org/none) [c](#top)\n# Top\n"))
        self.assert_found(self.pages_say("[a](docs/none.md)\n"), "page.md:1: there is no docs/none.md")
        self.assert_found(self.pages_say("\n[a](docs/other.md#less)\n"), "page.md:2: docs/other.md has no heading #less")

    def test_files_that_are_named(self):
        self.write("src/kernevo/base/result.h", "")
        self.assert_fine(self.pages_say("`src/kernevo/base/result.h`, `result.h`, `base/result.h`, `examples/NAME/task.yaml`\n"))
        self.assert_found(self.pages_say("`src/kernevo/base/results.h`\n"), "there is no src/kernevo/base/results.h")
        self.assert_found(self.pages_say("`results.h`\n"), "there is no results.h")

    def test_commands_no_test_would_see(self):
        self.assert_found(self.pages_say("    $ kernevo count\n"), "an indented command")
        self.assert_found(self.pages_say("```\nkernevo count\n```\n"), "outside of a sh or console block")

    def test_parts_that_pages_share(self):
        self.write("other.md", "Before.\n\nThe same\ntext.\n\nAfter.\n")
        page = "<!-- shared with other.md -->\nThe same\ntext.\n<!-- end of shared -->\n"
        self.assert_fine(self.pages_say(page))
        self.assert_found(self.pages_say(page.replace("same", "other")), "not there word for word")
        with self.assertRaisesRegex(ValueError, "has no end"):
            self.pages_say("<!-- shared with other.md -->\nThe same\n")

    def test_blocks_that_show_a_file(self):
        self.write("examples/made.yaml", "a: 1\nb: 2\n")
        page = "<!-- same as examples/made.yaml -->\n```yaml\na: 1\nb: 2\n```\n"
        self.assert_fine(self.pages_say(page))
        self.assert_found(self.pages_say(page.replace("b: 2", "b: 3")), "this is not examples/made.yaml")

    def test_a_fence_that_is_never_closed(self):
        with self.assertRaisesRegex(ValueError, "never closed"):
            self.pages_say("```sh\nkernevo count\n")

    def test_other_pages_are_not_ours(self):
        self.write("build/_deps/page.md", "[a](none.md)\n")
        self.write(".deps/page.md", "[a](none.md)\n")
        self.assertEqual(pages.find_pages(self.root), [])


if __name__ == "__main__":
    unittest.main()

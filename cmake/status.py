#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/status.md: which public functions are real, and the tests that say so. Generated from the code.

usage: status.py write          writes docs/status.md
       status.py check          fails when docs/status.md is not what "write" would write
       status.py covered        fails when a function that does not refuse lacks a test of its effect or of a failure
"""
import re
import sys

sys.dont_write_bytecode = True
import vinci_api  # noqa: E402

COVERS = re.compile(r"^/\* covers: (.+) (effect|failure) \*/$")
TEST = re.compile(r"^static void (\w+)\(void \*\*\w+\)")
KINDS = ("effect", "failure")


def fail(message):
    raise SystemExit(f"status.py: {message}")


def tests_of_file(path, relative):
    """Yields (function, kind, test, file) for each 'covers' comment; it must stand above a test that is run."""
    text = path.read_text(encoding="utf-8")
    pending = []
    for number, line in enumerate(text.splitlines(), 1):
        comment = COVERS.match(line)
        if comment:
            pending += [(name.strip(), comment.group(2)) for name in comment.group(1).split(",")]
            continue
        if line.startswith("/* covers:"):
            fail(f"{relative}:{number}: not of the form '/* covers: name[, name] effect|failure */'")
        test = TEST.match(line)
        if test and pending:
            if len(re.findall(rf"\b{test.group(1)}\b", text)) < 2:
                fail(f"{relative}:{number}: {test.group(1)} is not among the tests that are run")
            yield from ((name, kind, test.group(1), relative) for name, kind in pending)
            pending = []
        elif pending and not line.startswith(("/*", " *")):
            fail(f"{relative}:{number}: a covers comment has to stand above 'static void test(void **state)'")


def coverage(root):
    """{function: {kind: (test, file)}}, the first test of each kind by file name."""
    covered = {}
    for path in sorted((root / "tests").rglob("*.c")):
        relative = path.relative_to(root).as_posix()
        for name, kind, test, file in tests_of_file(path, relative):
            covered.setdefault(name, {}).setdefault(kind, (test, file))
    return covered


class Status:
    def __init__(self, root):
        self.functions = vinci_api.runtime_functions(root)
        self.extras = vinci_api.extra_functions(root)
        self.refused = vinci_api.refused_functions(root)
        self.defined = vinci_api.defined_functions(root)
        self.covered = coverage(root)
        self.names = [name for _, _, name in self.functions] + self.extras
        self.check_sources()

    def check_sources(self):
        for name in self.names:
            if (name in self.refused) == (name in self.defined):
                both = name in self.refused
                fail(f"{name} is {'refused and defined in ' + self.defined[name] if both else 'defined nowhere'}")
        for name in self.covered:
            if name not in self.names:
                fail(f"a covers comment names {name}, which is not a public function")

    def missing(self, name):
        return [kind for kind in KINDS if kind not in self.covered.get(name, {})]

    def state(self, name):
        if name in self.refused:
            return "refused"
        return "partly" if self.missing(name) else "real"


def row(status, name):
    state = status.state(name)
    if state == "refused":
        return f"| `{name}` | refused | {status.refused[name]} | |"
    cells = []
    for kind in KINDS:
        test = status.covered.get(name, {}).get(kind)
        cells.append(f"[{test[0]}](../{test[1]})" if test else "no test")
    return f"| `{name}` | {state} | {cells[0]} | {cells[1]} |"


def table(status, title, names):
    return ["", f"## {title}", "", "| function | state | test of its effect, or why it refuses | test of a failure |",
            "|---|---|---|---|"] + [row(status, name) for name in names]


def sections(status):
    """(title, names) by header and chapter, in the order of the headers."""
    found = {}
    for header, chapter, name in status.functions:
        found.setdefault(f"{header}: {chapter}" if chapter else header, []).append(name)
    return list(found.items()) + [("Names beyond the runtime headers", status.extras)]


def render(status):
    states = [status.state(name) for name in status.names]
    lines = [
        "# Status of the public functions",
        "",
        "Generated from the code by `cmake/status.py write`; do not edit.",
        "",
        f"- {len(states)} functions are exported: {len(status.functions)} of CANN's runtime headers and "
        f"{len(status.extras)} beyond them.",
        f"- {states.count('real')} are **real**: a test asserts the function's effect and a test asserts one of its "
        "failures; both are linked.",
        f"- {states.count('partly')} are **partly** covered: they do their work, and a test is missing.",
        f"- {states.count('refused')} are **refused**: they return 207000 (or the value that they document for "
        "failure) and `aclGetRecentErrMsg` names them.",
    ]
    for title, names in sections(status):
        lines += table(status, title, names)
    return "\n".join(lines) + "\n"


def check_covered(status):
    bad = [name for name in status.names if status.state(name) == "partly"]
    for name in bad:
        print(f"{name} ({status.defined[name]}): no test of {' or '.join(status.missing(name))}")
    for name in sorted(status.covered):
        if name in status.refused:
            print(f"{name}: a test covers it, and it refuses")
            bad.append(name)
    sys.exit(1 if bad else 0)


def main():
    root = vinci_api.project_root()
    page = root / "docs/status.md"
    mode = sys.argv[1] if len(sys.argv) == 2 else ""
    if mode == "covered":
        check_covered(Status(root))
    elif mode == "write":
        page.write_text(render(Status(root)), encoding="utf-8")
    elif mode == "check":
        if not page.exists() or page.read_text(encoding="utf-8") != render(Status(root)):
            fail("docs/status.md is not up to date; run cmake/status.py write")
    else:
        raise SystemExit(__doc__)


main()

# SPDX-License-Identifier: MIT
"""What the sources say about the public functions: read once here for the symbol check and for docs/status.md."""
import pathlib
import re

RUNTIME_HEADERS = ["acl_base_rt.h", "acl_rt.h", "acl_rt_allocator.h", "acl_rt_memory_soma.h"]
EXTRA_HEADERS = ["src/acl/extras.h", "include/vinci/kernel.h"]


def strip_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def header_functions(path):
    """[(chapter, name)] in the order of the header; a chapter begins at a comment of the form '---- title ----'."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"/\* ---- (.*?) -+ \*/", r"@chapter \1;", text)
    text = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", strip_comments(text), flags=re.M)
    chapter, found = None, []
    for statement in text.split(";"):
        mark = re.search(r"@chapter (.*)", statement)
        if mark:
            chapter = mark.group(1).strip()
            continue
        name = re.search(r'\b(?:ACL_FUNC_VISIBILITY|visibility\("default"\)\)\))\s+[\w\s*]+?\b(\w+)\s*\(', statement)
        if name:
            found.append((chapter, name.group(1)))
    return found


def runtime_functions(root):
    """[(header, chapter, name)] of the four runtime headers."""
    return [(header, chapter, name) for header in RUNTIME_HEADERS
            for chapter, name in header_functions(root / "include/acl" / header)]


def extra_functions(root):
    return [name for header in EXTRA_HEADERS for _, name in header_functions(root / header)]


def refused_functions(root):
    """{name: reason}; the reason is the REASON defined above the group."""
    refused = {}
    for path in sorted((root / "src/acl").glob("refused_*.c")):
        text = path.read_text(encoding="utf-8")
        tokens = re.finditer(r'#define REASON "(?P<reason>[^"\n]*)"|'
                             r"^REFUSE\((?P<name>\w+),|"
                             r"^REFUSE_AS\([^,]+,[^,]+,\s*(?P<valued>\w+),", text, flags=re.M | re.S)
        reason = None
        for token in tokens:
            if token["reason"]:
                reason = token["reason"]
                continue
            if reason is None:
                raise SystemExit(f"{path}: a refusal without a reason above it")
            refused[token["name"] or token["valued"]] = reason
    return refused


def defined_functions(root):
    """{name: file} of the public functions that src/acl defines for real."""
    names = {name for _, _, name in runtime_functions(root)} | set(extra_functions(root))
    defined = {}
    for path in sorted((root / "src/acl").glob("*.c")):
        if path.name.startswith("refused_"):
            continue
        text = strip_comments(path.read_text(encoding="utf-8"))
        for name in re.findall(r"^[A-Za-z_][\w \t*]*?\b(\w+)\([^;{}]*\)\s*\{", text, flags=re.M):
            if name in names:
                defined[name] = path.relative_to(root).as_posix()
    return defined


def abi_table(root):
    text = (root / "src/acl/functions.def").read_text(encoding="utf-8")
    return re.findall(r"^ABI_\w+\((\w+),", text, flags=re.M)


def project_root():
    return pathlib.Path(__file__).resolve().parent.parent

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The names of the version script, of the library, of the headers and of CANN's table must be the same ones.

GNU ld takes a name in a version script that nobody defines, so nothing else notices one that is missing. The library
must also not call itself by a public name: a program that puts functions of its own in front of some would be called from
inside.
usage: symbols_check.py <nm> <readelf> <libascendcl.so>
"""
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cmake"))
import vinci_api  # noqa: E402


def map_names(path):
    text = vinci_api.strip_comments(path.read_text(encoding="utf-8"))
    match = re.fullmatch(r"\s*\{\s*global:(.*)local:\s*\*;\s*\};\s*", text, flags=re.S)
    if not match:
        raise SystemExit(f"{path}: not one anonymous version")
    return [name.strip() for name in match.group(1).split(";") if name.strip()]


def library_names(nm, library):
    lines = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    names = []
    for line in lines:
        name, kind = line.split()[-1], line.split()[-2]
        if kind not in "TWi":
            raise SystemExit(f"{library}: {name} is of kind {kind}, not a function")
        names.append(name)
    return names


def own_uses(readelf, library, names):
    """Public names that the loader would look up for the library itself."""
    relocations = subprocess.run([readelf, "--relocs", "--wide", library], check=True, capture_output=True,
                                 text=True).stdout
    return sorted(set(names) & set(re.split(r"[\s@]+", relocations)))


def compare(names):
    """Reports each name that one of the lists has and another lacks or has twice."""
    bad = 0
    everything = set().union(*names.values())
    for name in sorted(everything):
        counts = {source: listed.count(name) for source, listed in names.items()}
        if set(counts.values()) != {1}:
            print(f"{name}: " + ", ".join(f"{count} times in {source}" for source, count in counts.items()))
            bad += 1
    return bad


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    root = vinci_api.project_root()
    extras = vinci_api.extra_functions(root)
    names = {
        "exports.map": map_names(root / "src/acl/exports.map"),
        "the library": library_names(sys.argv[1], sys.argv[3]),
        "the headers": [name for _, _, name in vinci_api.runtime_functions(root)] + extras,
        "CANN's table": vinci_api.abi_table(root) + extras,
    }
    bad = compare(names)
    for name in own_uses(sys.argv[2], sys.argv[3], names["the library"]):
        print(f"{name}: the library calls itself by it")
        bad += 1
    print(f"{len(names['the library'])} names, {len(extras)} of them extras ({', '.join(extras)}); {bad} wrong")
    sys.exit(1 if bad else 0)


main()

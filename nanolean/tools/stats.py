"""`stats`: figures about the library. `build`: build it from text."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from nanolean.env_state import EnvState
from nanolean.kernel.expr import node_count
from nanolean.library.loader import (
    DIGEST,
    LibraryError,
    build_library,
    cache_path,
    library_files,
    load_library,
    save_library,
)
from nanolean.library.texts import declarations, library_declarations, plural
from nanolean.syntax import Node, Tactic
from nanolean.system import UserError


def tactic_name(node: Tactic) -> str:
    """Name a kind of tactic after its syntax: `IntroStx` is `intro`, `SimpAllStx` is `simp_all`."""
    word = type(node).__name__.removesuffix("Stx")
    return "".join("_" + char.lower() if char.isupper() and i else char.lower() for i, char in enumerate(word))


def tactics_in(node: object) -> Iterator[Tactic]:
    """Yield all tactics in a piece of syntax, outer ones first."""
    stack = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, Tactic):
            yield item
        if isinstance(item, Node):
            stack += [getattr(item, field.name) for field in reversed(fields(item))]
        elif isinstance(item, tuple):
            stack += reversed(item)


def figures(from_text: bool) -> dict[str, Any]:
    """Counts and times; building the library from text takes seconds and is left out unless asked for."""
    load_library()
    before = time.perf_counter()
    state = load_library()
    cached = time.perf_counter() - before
    used = Counter(tactic_name(t) for item in library_declarations().values() for t in tactics_in(item.command))
    infos = declarations(state)
    result: dict[str, Any] = {
        "files": len(library_files()),
        "theorems": sum(info.kind == "theorem" for info in infos),
        "definitions": sum(info.kind == "def" for info in infos),
        "inductives": sum(info.kind == "inductive" for info in infos),
        "axioms": sorted(info.name for info in infos if info.kind == "axiom"),
        "simp_lemmas": len(state.tagged("simp")),
        "constants": sum(1 for _ in state.env),
        "terms": node_count(),
        "cache_bytes": cache_path().stat().st_size if cache_path().is_file() else None,
        "load_seconds": round(cached, 3),
        "tactics": dict(used.most_common()),
    }
    if from_text:
        before = time.perf_counter()
        build_library(library_files())
        result["build_seconds"] = round(time.perf_counter() - before, 3)
    return result


def print_stats(as_json: bool) -> int:
    """Print the figures."""
    found = figures(from_text=True)
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return 0
    kinds = {"theorem": "theorems", "def": "definitions", "inductive": "inductives"}
    print("library: " + ", ".join([plural(found["files"], "file")] + [plural(found[kinds[k]], k) for k in kinds]))
    print(f"axioms: {', '.join(found['axioms'])}")
    print(f"simp set: {found['simp_lemmas']}; constants in all: {found['constants']}; terms: {found['terms']}")
    size = "no cache file" if found["cache_bytes"] is None else f"{found['cache_bytes'] / 1e6:.1f} MB"
    print(f"load: {found['load_seconds']:.2f} s from cache ({size}), {found['build_seconds']:.1f} s from text")
    print("tactics: " + ", ".join(f"{name} {count}" for name, count in found["tactics"].items()))
    return 0


def build(quiet: bool = False, record: bool = False) -> int:
    """Build the library from text, every proof checked by the kernel, and put it into the cache; 1 on errors.

    It must come to what is recorded beside the text, else 1 too; `record` writes that down anew, after a change.
    Raises UserError if that cannot be written.
    """
    start = last = time.perf_counter()
    known = 0

    def report(file: Path, state: EnvState) -> None:
        nonlocal last, known
        now, count = time.perf_counter(), sum(info.kind == "theorem" for info in declarations(state))
        if not quiet:
            print(f"{file.name}: {plural(count - known, 'theorem')}, {now - last:.2f} s", flush=True)
        last, known = now, count

    try:
        state = build_library(library_files(), report)
    except LibraryError as error:
        print(error)
        return 1
    try:
        saved = save_library(state, record)
    except OSError as error:
        raise UserError(f"--record: cannot write {DIGEST}: {error.strerror}") from error
    print(f"{plural(known, 'theorem')} checked in {time.perf_counter() - start:.1f} s")
    if not saved:
        print(f"this is not the library that {DIGEST} records; if its text or its elaborator was changed: --record")
    return 0 if saved else 1

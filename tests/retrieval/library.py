"""A library of four files for tests: B imports A, C imports B, and D stands alone."""

import json
from pathlib import Path
from typing import Any

from nanoproof.repos.traced_files import Position, Premise, Provenance, TracedFile, TracedTactic, TracedTheorem

GOALS = {"A": "a + b = b + a", "B": "xs ++ [] = xs", "C": "p ∧ q → q", "D": "f x ≤ f y"}


def premise(name: str, line: int, code: str | None = None) -> Premise:
    """A premise of lines `line` and `line` + 1."""
    return Premise(
        name, code or f"theorem {name} : {GOALS[name[0]]}", Position(line, 1), Position(line + 1, 9), "theorem"
    )


def files() -> list[TracedFile]:
    listed = [("A", ()), ("B", ("A.lean",)), ("C", ("B.lean", "Lost.lean")), ("D", ())]
    return [
        TracedFile(f"{name}.lean", imports, tuple(premise(f"{name}{n}", 3 * n - 2) for n in (1, 2, 3)), ())
        for name, imports in listed
    ]


def used(name: str) -> Provenance:
    return Provenance(name, f"{name[0]}.lean", Position(3 * int(name[1]) - 2, 9), Position(3 * int(name[1]) - 2, 11))


def theorem(name: str, *premises: str, goal: str | None = None, line: int = 90) -> TracedTheorem:
    """A theorem at the end of C, with a tactic for each premise."""
    tactics = tuple(
        TracedTactic(
            f"rw [{each}]", f"x : T\n⊢ {goal or GOALS[each[0]]}", "no goals", f"rw [<a>{each}</a>]", (used(each),)
        )
        for each in premises
    )
    place = Position(line, 1), Position(line + 1, 1)
    return TracedTheorem(name, "C.lean", *place, f"theorem {name} : P", tactics, premises)


def write_export(folder: Path) -> Path:
    """The library as LeanDojo exports it, with theorems whose goals tell which file their premises are from."""
    from nanoproof.repos.leandojo import premise_record, theorem_record

    def records(*theorems: TracedTheorem) -> list[Any]:
        return [theorem_record(each, "https://host/o/n", "c0ffee") for each in theorems]

    rows = [{"path": f.path, "imports": [i for i in f.imports if i != "Lost.lean"]} for f in files()]
    for row, file in zip(rows, files()):
        row["premises"] = [premise_record(each) for each in file.premises]  # type: ignore[assignment]
    folder.mkdir(parents=True)
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "metadata.json").write_text(json.dumps({"from_repo": {"url": "https://host/o/n", "commit": "c0ffee"}}))
    train = [theorem(f"t{n}", "A1", "B1", "C1") for n in range(4)]
    for strategy in ("random", "novel_premises"):
        (folder / strategy).mkdir()
        for split, some in (("train", train), ("val", train[:1]), ("test", [theorem("last", "A1", "C1")])):
            (folder / strategy / f"{split}.json").write_text(json.dumps(records(*some)))
    return folder

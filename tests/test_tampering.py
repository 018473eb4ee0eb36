"""The proofs of a quickstart, tampered with in every way that came to mind: all are refused, with the reason."""

import contextlib
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from nanolean.library.loader import Library
from nanolean.tests.library import base
from nanolean.tools import check as check_tool
from nanoproof.evaluation import results
from nanoproof.evaluation.results import EvalSettings, EvaluationFiles
from nanoproof.evaluation.summary import theorem_key
from nanoproof.lean.source import splice
from nanoproof.lean.types import Theorem
from nanoproof.prover.attempt import Attempt
from scripts import check_with_lean, lean_command

PROVED = {
    "swap": ("theorem swap (p q : Prop) (h : p ∧ q) : q ∧ p := by\n  sorry", "exact ⟨h.2, h.1⟩"),
    "zero": ("theorem zero (n : Nat) : 0 + n = n := by\n  sorry", "simp"),
    "lists/1": ("open List in\ntheorem one (a : Nat) : [a].length = 1 := by\n  sorry", "rfl"),
}
OPEN = ("theorem fermat : 1 = 2 := by\n  sorry", "")
SWAP, ZERO = "swap.lean", "zero.lean"
HELD = "theorem swap (p q : Prop) (h : p ∧ q) : q ∧ p := by\n  exact ⟨h.2, h.1⟩\n"


def in_this_process(words: Sequence[str], cwd: str | None, seconds: float) -> tuple[int, str]:
    """`nanolean check --messages FILE ...`, without a process for it."""
    assert words[3:5] == ["check", "--messages"]
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = check_tool.check_files([Path(name) for name in words[5:]], as_messages=True)
    return code, said.getvalue()


@pytest.fixture
def proofs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of proofs of an evaluation, whose record lies beside it."""
    monkeypatch.setattr(lean_command, "run", in_this_process)
    monkeypatch.setattr(check_tool, "open_library", lambda distrust: Library(base(), "", True))
    monkeypatch.setattr(results, "plot_curve", lambda *_: None)
    attempts = [
        Attempt(Theorem(source, "made", name), "proven", proof=proof, source=splice(source, proof))
        for name, (source, proof) in PROVED.items()
    ]
    attempts.append(Attempt(Theorem(OPEN[0], "made", "fermat"), "unproven"))
    settings = EvalSettings("made", "test", num_simulations=8, seed=0)
    files = EvaluationFiles(tmp_path / "quickstart", [attempt.theorem for attempt in attempts], settings)
    files.begin({}, "new")
    with files.writer(0) as writer:
        for attempt in attempts:
            writer.add(attempt)
    files.finish(1.0)
    return files.path / "proofs"


def check(folder: Path, capsys: pytest.CaptureFixture[str], *flags: str) -> tuple[int, str]:
    code = check_with_lean.main([str(folder), "--lean", "nanolean", *flags])
    return code, capsys.readouterr().out


def test_the_proofs_as_they_were_exported_hold(proofs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = check(proofs, capsys)
    assert code == 0 and said.startswith("3 of 3 proofs hold (nanolean)\n3 of 3 results hold")
    assert f"compared with {proofs.parent / 'results.jsonl'}" in said
    assert check(proofs.parent, capsys)[0] == 0
    assert check(proofs, capsys, "--results", "none")[0] == 0


Tampering = Callable[[Path], object]


def put(text: str, name: str = SWAP) -> Tampering:
    return lambda proofs: (proofs / name).write_text(text, encoding="utf-8")


def edit(old: str, new: str, name: str = SWAP) -> Tampering:
    return lambda proofs: (proofs / name).write_text((proofs / name).read_text().replace(old, new), encoding="utf-8")


def swap_files(proofs: Path) -> None:
    (proofs / SWAP).rename(proofs / "other")
    (proofs / ZERO).rename(proofs / SWAP)
    (proofs / "other").rename(proofs / ZERO)


def link(target: str | None) -> Tampering:
    """Put a link in the place of a file: to another proof, or to what it was itself, elsewhere."""

    def tamper(proofs: Path) -> None:
        if target is None:
            (proofs / SWAP).rename(proofs.parent / "elsewhere")
        else:
            (proofs / SWAP).unlink()
        (proofs / SWAP).symlink_to(proofs.parent / "elsewhere" if target is None else target)

    return tamper


def link_to_folder(proofs: Path) -> None:
    (proofs / "more").symlink_to(proofs.parent)


def pipe(proofs: Path) -> None:
    (proofs / SWAP).unlink()
    os.mkfifo(proofs / SWAP)


def second_copy(proofs: Path) -> None:
    (proofs / "deeper").mkdir()
    (proofs / "deeper" / SWAP).write_text(HELD, encoding="utf-8")


def remove_all(proofs: Path) -> None:
    for file in proofs.glob("*.lean"):
        file.unlink()


TAMPERINGS: dict[str, tuple[Tampering, str]] = {
    "a weaker statement": (edit("q ∧ p", "q ∧ q"), "its statement is not the one on record"),
    "one more hypothesis": (edit("(h :", "(lie : False) (h :"), "its statement is not the one on record"),
    "a hypothesis in front": (put("variable (lie : False)\n" + HELD), "its statement is not the one on record"),
    "a notation in front": (put('local notation "q ∧ p" => True\n' + HELD), "its statement is not the one on record"),
    "an instance in front": (put("instance : Inhabited Nat := ⟨1⟩\n" + HELD), "its statement is not the one on record"),
    "another proof": (edit("⟨h.2, h.1⟩", "And.symm h"), "its proof is not the one on record"),
    "sorry": (edit("exact ⟨h.2, h.1⟩", "sorry"), "its proof is not the one on record"),
    "an axiom": (put("axiom lie : False\n" + HELD), "its statement is not the one on record"),
    "an option": (edit("exact", "set_option debug.skipKernelTC true in exact"), "its proof is not the one on record"),
    "code behind it": (put(HELD + '#eval IO.println "hi"\n'), "its proof is not the one on record"),
    "a decoy in front": (
        put("theorem decoy : True := trivial\n" + HELD),
        "it declares theorem decoy, theorem swap, and",
    ),
    "a decoy behind": (put(HELD + "theorem decoy : True := trivial\n"), "it declares theorem swap, theorem decoy, and"),
    "a decoy on the line": (edit("theorem swap", "theorem decoy : True := trivial theorem swap"), "it declares"),
    "another name": (edit("swap", "paws"), "it declares theorem paws, and the proof on record theorem swap"),
    "a namespace": (put(f"namespace B\n{HELD}end B\n"), "it declares theorem B.swap, and the proof on record"),
    "an abbreviation": (edit("theorem", "abbrev"), "it declares abbrev swap, and the proof on record theorem swap"),
    "an import": (put("import Evil\n" + HELD), "its statement is not the one on record"),
    "nothing in it": (put(""), "it declares nothing, and the proof on record theorem swap"),
    "only a comment": (put("/- " + HELD + " -/"), "it declares nothing, and the proof on record theorem swap"),
    "no text": (
        lambda proofs: (proofs / SWAP).write_bytes(b"theorem \xff"),
        "it is no text: invalid start byte at byte 8",
    ),
    "two files exchanged": (swap_files, "it is the proof of zero, and not of swap"),
    "a copy of another": (lambda p: (p / SWAP).write_bytes((p / ZERO).read_bytes()), "it is the proof of zero"),
    "a file added": (put(HELD, "more.lean"), "has no proof for a file of this name"),
    "a proof of what was not proved": (
        put("theorem fermat : 1 = 2 := rfl\n", "fermat.lean"),
        "has no proof for a file",
    ),
    "a file removed": (lambda proofs: (proofs / SWAP).unlink(), "its proof, swap.lean, is not in the folder"),
    "all files removed": (remove_all, "its proof, swap.lean, is not in the folder"),
    "a file renamed": (lambda proofs: (proofs / SWAP).rename(proofs / "x.lean"), "its proof, swap.lean, is not in the"),
    "a second copy": (second_copy, "there are several files of this name"),
    "a link to the same": (link(None), "it is a link"),
    "a link to another": (link(ZERO), "it is a link"),
    "a link to a folder": (link_to_folder, "it is a link"),
    "a pipe": (pipe, "it is no regular file"),
    "a character that nobody sees": (edit("swap", "sw\u200bap"), "it declares theorem sw"),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("tamper", "reason"), TAMPERINGS.values(), ids=TAMPERINGS.keys())
def test_a_folder_that_was_tampered_with_is_refused(
    proofs: Path, capsys: pytest.CaptureFixture[str], tamper: Tampering, reason: str
) -> None:
    tamper(proofs)
    code, said = check(proofs, capsys)
    assert code == 1
    assert reason in "\n".join(line for line in said.splitlines() if line.startswith("refused: "))


@pytest.mark.parametrize(
    ("old", "new"), [("q ∧ p := by", "q ∧ q := by"), ("theorem swap", "axiom lie : False\\ntheorem swap")]
)
def test_a_record_that_was_tampered_with_does_not_help(
    proofs: Path, capsys: pytest.CaptureFixture[str], old: str, new: str
) -> None:
    """The text is as on record, and the record itself does not prove its own statement."""
    record = proofs.parent / "results.jsonl"
    record.write_text(record.read_text().replace(old, new, 1))  # in the theorem, which comes first, alone
    code, said = check(proofs, capsys)
    assert code == 1 and "refused: swap in" in said and f"refused: {proofs / SWAP}" in said


def test_code_on_record_does_not_hide_behind_a_plain_proof_of_the_same_id(
    proofs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []

    def reading(words: Sequence[str], cwd: str | None, seconds: float) -> tuple[int, str]:
        texts.extend(Path(name).read_text() for name in words[5:])
        return in_this_process(words, cwd, seconds)

    monkeypatch.setattr(lean_command, "run", reading)
    record = proofs.parent / "results.jsonl"
    swap = next(line for line in record.read_text().splitlines(keepends=True) if "theorem swap" in line)
    # A disproof has no file, so that nothing is missing in the folder.
    with_code = swap.replace("theorem swap", "#eval 1\\ntheorem swap").replace('"proven"', '"disproven"')
    record.write_text(with_code + record.read_text())
    # Files of one id have hashes in their names.
    theorems = [attempt.theorem for attempt in results.read_attempts(record)]
    (proofs / SWAP).rename(proofs / results.proof_names(theorems)[theorem_key(theorems[1])])
    code, said = check(proofs, capsys)
    assert code == 1 and "refused: swap in" in said
    assert texts and not any("#eval" in text for text in texts)


ALONE = {
    "a decoy in front": ("theorem decoy : True := trivial\n" + HELD, "it declares 2 theorems, decoy, swap; --several"),
    "a decoy on the line": ("theorem d : True := trivial theorem boom : 1 = 1 := rfl\n", "`theorem` stands behind"),
    "an axiom and a decoy": (
        "axiom lie : False\ntheorem decoy : True := trivial\ntheorem boom : 1 = 2 := lie.elim\n",
        "`axiom` begins a command that is no plain declaration",
    ),
    "two of a name": (
        "namespace B\ntheorem boom : True := trivial\nend B\ntheorem boom : 1 = 2 := B.boom.elim\n",
        "4:31: error:",
    ),
    "an abbreviation": ("abbrev boom : 1 = 1 := rfl\n", "it holds no theorem"),
    "an axiom alone": ("axiom boom : 1 = 2\n", "`axiom` begins a command that is no plain declaration"),
    "a header about others": (
        "/-\nDeclarations: other.\n-/\n" + HELD,
        "its header and its text do not agree about swap",
    ),
    "a header about more": ("/-\nDeclarations: swap, x.\n-/\n" + HELD, "its header and its text do not agree about x"),
    "too much to read": ("-- " + "x" * 10_000_000, "it is larger than 10 MB"),
}


@pytest.mark.parametrize(("text", "reason"), ALONE.values(), ids=ALONE.keys())
def test_a_file_of_no_record_is_refused(
    proofs: Path, capsys: pytest.CaptureFixture[str], text: str, reason: str
) -> None:
    put(text)(proofs)
    code, said = check(proofs, capsys, "--results", "none")
    assert code == 1
    assert f"refused: {proofs / SWAP}: {reason}" in said and "2 of 3 proofs hold" in said


def test_a_file_may_list_in_its_header_what_it_proves(proofs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = "/-\nDeclarations: Nat.a, b.\nBrought along, since Lean's core does not have them: c.\n-/\n"
    put(header + "namespace NanoLean\n" + "".join(f"theorem {n} : True := trivial\n" for n in ("c", "Nat.a", "b")))(
        proofs
    )
    assert check(proofs, capsys, "--results", "none")[0] == 0

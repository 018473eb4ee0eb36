"""Attacks on the last step: a proof text that goes into its theorem and through the final check as a whole."""

import functools
import hashlib
import json
import random
import subprocess
import sys
from dataclasses import replace

import pytest

from nanolean.__main__ import check_files
from nanolean.env_state import EnvState
from nanolean.kernel.declaration import TheoremInfo
from nanolean.kernel.env import recheck
from nanolean.kernel.expr import Const, Lam, Lit
from nanolean.library import loader
from nanolean.library.loader import build_library
from nanolean.repl import Repl
from nanolean.tests.each import each
from nanolean.tests.library import base
from nanoproof.lean.check_command import CheckCommand
from nanoproof.lean.types import CheckReport, LeanError, SourceError, Theorem
from nanoproof.prover.check import check_proof
from tests.prover.red_team import table


class LocalChecker:
    """`check` as a session does it, on a REPL in this process."""

    def check(self, source: str, *, since: int = 0) -> CheckReport:
        command = CheckCommand.build(source, since=since)
        return command.read_answer(json.loads(json.dumps(Repl(base()).answer({"cmd": command.text}))))


def accepted(statement: str, proof: str) -> bool:
    """Whether the final check takes the proof; a protocol error is no acceptance either."""
    theorem = Theorem(f"theorem boom {statement} := by\n  sorry", "attack", "boom")
    try:
        return check_proof(LocalChecker(), theorem, proof).accepted
    except (LeanError, SourceError):
        return False


def test_the_final_check_takes_honest_proofs():
    assert accepted("(p q : Prop) (h : p ∧ q) : q ∧ p", "exact ⟨h.2, h.1⟩")
    assert accepted("(n : Nat) : 0 + n = n", "induction n with\n| zero => rfl\n| succ n ih => rw [Nat.add_succ, ih]")


@pytest.mark.parametrize("name", ["A.t", "A.«a b»", "«x theorem y»", "_root_.t"])
def test_the_statement_that_was_proved_has_the_name_of_its_theorem(name: str) -> None:
    verdict = check_proof(LocalChecker(), Theorem(f"theorem {name} : 1 = 1 := by\n  sorry"), "rfl")
    assert verdict.statement == f"{name.removeprefix('_root_.')} : 1 = 1"


def test_a_theorem_is_not_proved_that_nothing_was_asked_about():
    # Our reader takes `1theorem` for no keyword, and asks about `seen`.
    source = "axiom bad : False\ntheorem seen : 1 = 1 := @rfl Nat 1theorem boom : False := by\n  sorry"
    verdict = check_proof(LocalChecker(), Theorem(source), "exact bad")
    assert not verdict.accepted and verdict.reason == "the `sorry` is not in the theorem seen"


def test_a_false_lemma_before_the_theorem_counts_where_the_proof_rests_on_it() -> None:
    before = "axiom lie : False\ntheorem consequence : False := lie\n"
    verdict = check_proof(LocalChecker(), Theorem(f"{before}theorem boom : False := by sorry"), "exact consequence")
    assert not verdict.accepted and "the proof rests on lie" in verdict.reason
    assert check_proof(LocalChecker(), Theorem(f"{before}theorem fine : True := by sorry"), "trivial").accepted


PROOFS_OF_FALSE = {
    "nothing": "skip",
    "sorry": "sorry",
    "sorry in a comment's shadow": "-- sorry\nsorry",
    "sorry written with quotes": "«sorry»",
    "sorryAx": "exact sorryAx _",
    "sorryAx by its pieces": "exact @sorryAx False true",
    "its own name": "exact boom",
    "its own name in a namespace": "exact _root_.boom",
    "an unfinished comment": "trivial /-",
    "a comment that ends what was never begun": "trivial -/",
    "the end of the block": "trivial\n\nend",
    "another theorem on its own line": "trivial\ntheorem boom2 : True := trivial",
    "another theorem on the same line": "trivial theorem boom2 : True := trivial",
    "an axiom on the same line": "trivial axiom lie : False",
    "an axiom that comes first": "exact lie axiom lie : False",
    "a namespace that takes over the name": "exact lie namespace A theorem boom : True := trivial",
    "a section that never ends": "exact lie section theorem boom : True := trivial",
    "a question of its own": "trivial #print axioms True.intro",
    "a question of its own on a line": "trivial\n#print axioms True.intro",
    "an attribute": "trivial @[simp] theorem lie : False := trivial",
    "an option": "set_option debug.skipKernelTC true in trivial",
    "a native computation": "native_decide",
    "a search": "exact?",
    "a metaprogram": "run_tac Lean.Elab.admitGoal",
    "a hole": "exact ?_",
    "a sorry in the type of a have": "have h : (sorry : Prop) := trivial\ntrivial",
    "a have that nobody proves": "have h : False := by skip\nexact h",
    "a have without its type": "have h := h\nexact h",
    "a tab instead of spaces": "\ttrivial",
    "a carriage return": "trivial\r\nsorry",
    "a line separator": "trivial\u2028sorry",
    "a block that is outdented": "  skip\ntrivial",
    "a definition under another name": "exact def_by_cases def lie : False := lie",
    "an open that brings nothing": "open Nat in trivial",
    "an instance on the same line": "decide instance : Decidable False := .isTrue trivial",
    "a notation on the same line": 'trivial notation "False" => True',
}


@each("proof", PROOFS_OF_FALSE.values(), ids=PROOFS_OF_FALSE.keys())
def test_no_text_proves_false(proof):
    assert not accepted(": False", proof)


@each(
    "proof",
    [
        "trivial theorem other : True := trivial",
        "trivial namespace A theorem boom : True := trivial",
        "trivial axiom lie : False",
        "trivial def lie : Nat := 0",
        "trivial inductive T : Type where",
        "trivial section",
        "trivial variable (h : False)",
        "trivial attribute [simp] Nat.add_comm",
        "trivial @[simp] theorem other : True := trivial",
        "trivial #check True",
        "(trivial) end",
        "trivial open Nat theorem other : True := trivial",
        "trivial set_option autoImplicit true example : True := trivial",
    ],
)
def test_a_proof_of_something_true_may_not_bring_commands(proof):
    """What comes behind the theorem could change what the questions about its axioms mean."""
    assert not accepted(": True", proof)


def test_no_mixture_of_proofs_fake_and_honest_proves_false():
    rng = random.Random(0)
    pool = [entry["proof"] for name in ("tricks", "honest") for entry in table(name)]
    lines = [line for proof in (*pool, *PROOFS_OF_FALSE.values()) for line in proof.split("\n")]
    for _ in range(250):
        glue = rng.choice(["\n", "\n", " ", "; ", " <;> ", "\n  ", ")("])
        text = glue.join(rng.choices(lines, k=rng.randint(1, 4)))
        for _ in range(rng.randint(0, 2)):
            place = rng.randrange(len(text) + 1)
            text = (
                text[:place] + rng.choice(["", "(", ")", "'", '"', "-/", " ", "\n"]) + text[place + rng.randint(0, 3) :]
            )
        assert not accepted(": False", text), text


def test_words_that_begin_commands_are_allowed_inside_of_names_and_comments():
    assert accepted("(n : Nat) : n = n", "-- theorem\nrfl")
    assert accepted("(end' : True) : True", "exact end'")
    assert accepted("(p : Prop) (section' : p) : p", "exact section'")


# --- the tool that checks files


def check_file(tmp_path, text: str) -> int:
    path = tmp_path / "file.lean"
    path.write_text(text, encoding="utf-8")
    return check_files([path])


def test_the_tool_fails_on_errors(tmp_path):
    assert check_file(tmp_path, "theorem t : True := trivial") == 0
    assert check_file(tmp_path, "theorem t : False := trivial") != 0
    assert check_file(tmp_path, "theorem t : False := by\n  rfl\ntheorem u : True := trivial") != 0


# --- the cache of the library


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache of its own, with a library in it, the one recorded; answers its path. Nothing is built from text."""
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    monkeypatch.setattr(loader, "build_library", lambda files: small_library())
    monkeypatch.setattr(loader, "DIGEST", tmp_path / "recorded.txt")
    loader.save_library(small_library(), record=True)
    return loader.cache_path()


@functools.cache
def small_library() -> EnvState:
    """The library's first files: all of it takes half a second to encode."""
    return build_library(loader.library_files()[:3])


@functools.cache
def encoded() -> bytes:
    """What a cache has to hold."""
    return loader._encoded(small_library())


def forged_theorem(state: EnvState) -> EnvState:
    return state.with_env(state.env.add_unchecked([TheoremInfo("forged", (), Const("False"), Const("True.intro"))]))


def redefined_addition(state: EnvState) -> EnvState:
    """A sum is always 5. What a kernel checks is well typed: it cannot tell."""
    always = Lam("n", Const("Nat"), Lam("m", Const("Nat"), Lit(5)))
    info = replace(state.env["Nat.add"], value=always, computes_literals=False)
    return state.with_env(state.env.add_unchecked([info]))


def forgotten_attribute(state: EnvState) -> EnvState:
    return state.with_attribute("simp", state.tagged("simp")[0], erase=True)


FORGERIES = [forged_theorem, redefined_addition, forgotten_attribute]


@pytest.mark.parametrize("forge", FORGERIES)
@pytest.mark.parametrize("distrust", [False, True])
def test_a_forged_cache_is_not_read(cache, forge, distrust):
    cache.write_bytes(loader._encoded(forge(small_library())))
    library = loader.open_library(distrust=distrust)
    assert library.cache is None and library.state is small_library()
    assert cache.read_bytes() == encoded()


def test_a_forged_cache_proves_nothing_to_the_tool_that_checks_files(cache, tmp_path):
    cache.write_bytes(loader._encoded(forged_theorem(small_library())))
    assert check_file(tmp_path, "theorem boom : 2 + 2 = 5 := forged.elim") != 0


def test_a_cache_is_not_looked_into_before_its_digest_is_right(cache, monkeypatch):
    cache.write_bytes(cache.read_bytes() + b" ")
    monkeypatch.setattr(loader.json, "loads", lambda data: pytest.fail("the cache was looked into"))
    assert loader.open_library().cache is None


def test_a_cache_with_a_flipped_bit_or_cut_short_or_empty_is_not_read(cache):
    data = cache.read_bytes()
    assert loader._read(cache, loader.recorded_digest()) is not None
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 1
    for part in (bytes(flipped), b"", data[:10], data[:-1], data + b"x"):
        cache.write_bytes(part)
        assert loader._read(cache, loader.recorded_digest()) is None


@pytest.mark.parametrize("mode", [0o666, 0o620, 0o602])
def test_a_cache_that_others_can_write_is_not_read(cache, mode):
    cache.chmod(mode)
    assert loader._read(cache, loader.recorded_digest()) is None


def test_a_library_that_is_not_recorded_is_not_kept(cache, monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(loader, "DIGEST", tmp_path / "digest.txt")
    cache.unlink()
    library = loader.open_library()
    assert not library.recorded and not cache.exists()
    assert "build --record" in caplog.text
    assert loader.save_library(small_library(), record=True) and loader.open_library().cache == cache


def test_the_tool_that_checks_files_says_what_it_trusted(cache, tmp_path, capsys):
    check_file(tmp_path, "theorem t : True := trivial")
    said = capsys.readouterr().out.splitlines()[-1]
    assert said.startswith("trusted: NanoLean's code; its library: ")
    assert str(cache) in said and loader.recorded_digest()[:16] in said and "--recheck" in said


def test_the_kernel_checks_the_library_again_when_asked(cache, tmp_path, capsys, monkeypatch):
    asked = []
    monkeypatch.setattr(loader, "recheck", lambda env: asked.append(env))
    (tmp_path / "a.lean").write_text("theorem t : True := trivial", encoding="utf-8")
    assert check_files([tmp_path / "a.lean"], as_json=True) == 0 and not asked
    assert json.loads(capsys.readouterr().out)["library"]["rechecked"] is False
    assert check_files([tmp_path / "a.lean"], as_json=True, recheck=True) == 0 and asked
    assert json.loads(capsys.readouterr().out)["library"]["rechecked"] is True


def test_the_cache_is_written_for_its_owner_only(cache):
    assert cache.stat().st_mode & 0o077 == 0


def test_the_library_is_the_recorded_one():
    """After a change of the library or of its elaborator: python -m nanolean build --record."""
    assert hashlib.sha256(loader._encoded(base())).hexdigest() == loader.recorded_digest()


def test_the_whole_library_passes_the_kernel_again():
    assert len(recheck(base().env)) == len(base().env)


def test_the_kernel_depends_on_nothing_else_of_the_prover():
    code = (
        "import sys, nanolean.kernel.env, nanolean.kernel.env\n"
        "names = [m for m in sys.modules if m.startswith('nanolean.')]\n"
        "print([m for m in names if '.kernel' not in m])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

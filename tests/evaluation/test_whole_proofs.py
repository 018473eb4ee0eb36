"""`scripts.prover_eval --whole-proofs`: over a scripted model and a scripted, faulty Lean, and once over NanoLean."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json, read_jsonl
from nanoproof.data.theorems import theorem_sets as sets
from nanoproof.evaluation import command as eval_command
from nanoproof.inference.language_model import GenerationOptions, TextSample
from nanoproof.prover.attempt import Attempt, fault_of
from scripts import check_with_lean, passk, prover_eval
from tests.evaluation import scripted_whole
from tests.evaluation.scripted_whole import RIGHT, words
from tests.helpers import start_forked, wait_for

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def scripted(monkeypatch: pytest.MonkeyPatch, nanoproof_home: str, tmp_path: Path) -> None:
    monkeypatch.setitem(sets.DATASETS, "scripted", scripted_whole.scripted_theorems)
    monkeypatch.setattr(eval_command, "open_fleet", scripted_whole.open_fleet)
    monkeypatch.setattr(eval_command, "open_language_model", scripted_whole.open_model)
    monkeypatch.setattr(eval_command, "whole_proof_prompts", scripted_whole.prompts)
    monkeypatch.setattr(prover_eval, "targets_of", scripted_whole.targets_of)
    monkeypatch.setattr(scripted_whole.Lean, "met", set())
    monkeypatch.setenv("CHECKED", str(tmp_path / "checked"))
    monkeypatch.setenv("ASKED", str(tmp_path / "asked"))


def samples(path: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """The samples on record; each is there once."""
    records = list(read_jsonl(path / "results.jsonl"))
    found = {(record["theorem"]["id"], record.get("sample", 0)): record for record in records}
    assert len(found) == len(records)
    return found


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def assert_right(records: dict[tuple[str, int], dict[str, Any]]) -> None:
    """Every sample has the verdict that its text deserves."""
    for record in records.values():
        assert record["outcome"] == ("proven" if f"exact {RIGHT}" in record["text"] else "unproven"), record


def whole(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = read_json(path / "summary.json")["whole_proofs"]
    return found


def test_every_sample_has_a_line_and_a_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert prover_eval.main(words(out, "--samples", 20, "--samples-at-once", 8)) == 0
    found = samples(out)
    assert sorted(found) == sorted((f"t{number}", sample) for number in range(5) for sample in range(20))
    assert_right(found)
    summary = read_json(out / "summary.json")
    proven = Counter(name for (name, _), record in found.items() if record["outcome"] == "proven")
    assert summary["solved"] == len(proven) and whole(out)["proven"] == sum(proven.values()) > 0
    firsts = [min(s for (name, s), r in found.items() if name == each and r["outcome"] == "proven") for each in proven]
    assert summary["solved_at"]["4"] == sum(first < 4 for first in firsts)
    assert whole(out)["refusals"] == {"whole_text": 100 - sum(proven.values())}
    assert sorted(file.stem for file in (out / "proofs").glob("*.lean")) == sorted(proven)
    settings = summary["settings"]
    assert (settings["whole_proofs"], settings["samples"], settings["proof_max_new_tokens"]) == (True, 20, 1024)
    assert "num_simulations" not in settings and "search_c_base" not in settings
    printed = capsys.readouterr().out
    assert "20 whole proofs of each, 100 samples" in printed and "pass@k, unbiased: 1: " in printed
    assert all(fault_of(Attempt.from_json(record)) == "" for record in found.values())


def test_pass_at_k_of_the_results_is_that_of_the_summary(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert prover_eval.main(words(out, "--samples", 16)) == 0
    assert passk.main([str(out), "--budgets", "1,2,4,8,16", "--json", str(tmp_path / "passk.json")]) == 0
    (table,) = read_json(tmp_path / "passk.json")
    assert (table["statements"], table["samples"]) == (5, 16)
    for row in table["rows"]:
        assert row["unbiased"] == pytest.approx(100 * whole(out)["pass_at"][str(row["k"])])
    means = {row["k"]: row["mean"] for row in table["rows"]}
    assert means[1] == pytest.approx(100 * whole(out)["proven"] / 80)


def test_equal_texts_are_verified_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPIES", "2")
    out = tmp_path / "out"
    assert prover_eval.main(words(out, "--samples", 40)) == 0
    found = samples(out)
    assert_right(found)
    distinct = {(name, record["text"]) for (name, _), record in found.items()}
    checked = Counter(lines(tmp_path / "checked"))
    assert len(distinct) < 100 and set(checked.values()) == {1} and len(checked) == len(distinct)
    assert whole(out)["copies"] == 200 - len(distinct)


def test_the_same_seed_gives_the_same_samples(tmp_path: Path) -> None:
    for name, more in (("a", []), ("b", ["--theorems-at-once", 2]), ("c", ["--seed", 1])):
        assert prover_eval.main(words(tmp_path / name, "--samples", 6, *more)) == 0
    first, second, other = ({key: r["text"] for key, r in samples(tmp_path / name).items()} for name in "abc")
    assert first == second != other and len(set(first.values())) == 30


def test_crashes_and_timeouts_of_lean_change_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRASHES", "0.03")
    monkeypatch.setenv("TIMEOUTS", "0.03")
    out = tmp_path / "out"
    assert prover_eval.main(words(out, "--samples", 80)) == 0
    found = samples(out)
    assert len(found) == 400 and whole(out)["without_verdict"] == 0
    assert_right(found)
    assert set(Counter(lines(tmp_path / "checked")).values()) == {1}


def test_a_killed_evaluation_verifies_no_sample_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    faults = {"CRASHES": "0.02", "TIMEOUTS": "0.02", "COUNT": "6"}
    for name, value in faults.items():
        monkeypatch.setenv(name, value)
    process = start_forked(scripted_whole.main, words(out, "--samples", 50), SLOW=0.03)
    wait_for(lambda: len(lines(out / "results.jsonl")) >= 60, "results", 240, [process])
    process.kill()
    process.join()
    before = list(read_jsonl(out / "results.jsonl"))
    known = {(record["theorem"]["id"], record["text"]) for record in before}
    earlier = len(lines(tmp_path / "checked"))
    assert 60 <= len(before) < 300
    assert prover_eval.main(words(out, "--samples", 50, "--continue")) == 0
    later = lines(tmp_path / "checked")[earlier:]
    again = [line for line in later if any(f"theorem {name} :" in line and text in line for name, text in known)]
    assert later and again == []
    found = samples(out)
    assert len(found) == 300
    assert_right(found)
    kept = {(record["theorem"]["id"], record.get("sample", 0)): record for record in before}
    assert all(found[key] == record for key, record in kept.items())


def test_a_text_without_a_verdict_is_kept_and_verified_later_without_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    monkeypatch.setenv("DEAD", "omega")
    assert prover_eval.main(words(out, "--samples", 10)) == 0
    before = samples(out)
    lost = {key: record for key, record in before.items() if record["outcome"] == "error"}
    assert lost and all("omega" in r["text"] and r["stop_reason"] == "ProcessLost" for r in lost.values())
    assert whole(out)["without_verdict"] == len(lost)
    with pytest.raises(UserError, match="have no verdict"):
        passk.main([str(out)])
    monkeypatch.setenv("DEAD", "")
    asked = lines(tmp_path / "asked")
    assert prover_eval.main(words(out, "--samples", 10, "--continue")) == 0
    after = samples(out)
    assert {key: r["text"] for key, r in before.items()} == {key: r["text"] for key, r in after.items()}
    assert_right(after)
    assert lines(tmp_path / "asked") == asked


def test_refused_proofs_are_repaired_with_the_errors(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert prover_eval.main(words(out, "--samples", 4, "--repair", 1)) == 0
    found = samples(out)
    assert {record["outcome"] for record in found.values()} == {"proven"}
    repaired = [record for record in found.values() if record["counts"].get("repairs")]
    assert repaired and all(r["counts"]["tokens"] == 10 and r["counts"]["tactic_samples"] == 2 for r in repaired)
    prompts = [line for line in lines(tmp_path / "asked") if "Lean says" in line]
    assert len(prompts) == len(repaired) == whole(out)["repairs"]
    assert all("unsolved goals" in line and "and more" in line for line in prompts)


def test_a_text_that_is_verified_later_may_be_repaired(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    monkeypatch.setenv("DEAD", "-- ")
    with pytest.raises(UserError, match="has no score, as all attempts ended in errors: scripted crash; 0 of 20"):
        prover_eval.main(words(out, "--samples", 4, "--repair", 1))
    assert {record["outcome"] for record in samples(out).values()} == {"error"}
    assert not (out / "summary.json").exists() and not (out / "run.lock").exists()
    monkeypatch.setenv("DEAD", "")
    assert prover_eval.main(words(out, "--samples", 4, "--repair", 1, "--continue")) == 0
    assert {record["outcome"] for record in samples(out).values()} == {"proven"} and len(samples(out)) == 20


def test_a_repair_that_fails_too_ends_as_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = TextSample("simp", None, 3, True)
    monkeypatch.setattr(scripted_whole.Model, "_samples", lambda *args: [sample] * args[2].num_samples)
    assert prover_eval.main(words(tmp_path / "out", "--samples", 3, "--repair", 2)) == 0
    found = samples(tmp_path / "out")
    assert {(r["outcome"], r["counts"]["repairs"], r["counts"]["tokens"]) for r in found.values()} == {
        ("unproven", 2, 9)
    }


def test_samples_of_a_refused_statement_are_errors_and_cost_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REFUSED", "t1")
    out = tmp_path / "out"
    assert prover_eval.main(words(out, "--samples", 200, "--samples-at-once", 4)) == 0
    refused = [record for (name, _), record in samples(out).items() if name == "t1"]
    assert {(record["outcome"], record["stop_reason"]) for record in refused} == {("error", "TheoremRejected")}
    assert sum(" t1 " in line for line in lines(tmp_path / "asked")) < 50
    assert "1 errors (1 TheoremRejected)" in capsys.readouterr().out
    assert passk.main([str(out), "--budgets", "1"]) == 0
    assert "Lean refuses 1 of the statements" in capsys.readouterr().out


def test_a_refused_statement_is_tried_again_when_the_evaluation_is_over_and_not_where_it_was_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFUSED", "t1")
    monkeypatch.setenv("REJECTED", str(tmp_path / "rejected"))
    out = tmp_path / "out"
    line = words(out, "--samples", 12, "--samples-at-once", 4)
    assert prover_eval.main(line) == 0
    rejected = lines(tmp_path / "rejected")
    assert set(rejected) == {"t1"}
    kept = lines(out / "results.jsonl")
    kept = [text for number, text in enumerate(kept) if number % 2 == 0]
    (out / "results.jsonl").write_text("\n".join(kept) + "\n", encoding="utf-8")
    (out / "summary.json").unlink()
    asked = len(lines(tmp_path / "asked"))
    assert prover_eval.main([*line, "--continue"]) == 0
    assert lines(tmp_path / "rejected") == rejected
    assert not any(" t1 " in text for text in lines(tmp_path / "asked")[asked:])
    assert Counter(name for name, _ in samples(out)) == dict.fromkeys(("t0", "t1", "t2", "t3", "t4"), 12)
    assert whole(out)["without_verdict"] == 0
    monkeypatch.setenv("REFUSED", "")
    assert prover_eval.main([*line, "--continue"]) == 0
    assert_right(samples(out))


def test_a_prompt_that_the_model_cannot_take_costs_its_samples_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAD_PROMPT", "t2")
    out = tmp_path / "out"
    assert prover_eval.main(words(out, "--samples", 4)) == 0
    bad = {name for (name, _), record in samples(out).items() if record["outcome"] == "error"}
    assert bad == {"t2"} and whole(out)["without_verdict"] == 4
    monkeypatch.setenv("BAD_PROMPT", "")
    assert prover_eval.main(words(out, "--samples", 4, "--continue")) == 0
    assert_right(samples(out))


def test_a_model_out_of_reach_ends_the_evaluation_with_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL", "unreachable")
    with pytest.raises(UserError, match=r"no model there; 0 of 20 samples are done .*--continue resumes it"):
        prover_eval.main(words(tmp_path / "out", "--samples", 4))


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    assert prover_eval.main(words(tmp_path / "out", "--samples", 2)) == 0
    with pytest.raises(UserError, match="--samples was 2, is 3"):
        prover_eval.main(words(tmp_path / "out", "--samples", 3, "--continue"))


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--policy", "solver-only"], "--whole-proofs needs a model that writes text .*--policy solver-only"),
        (["--policy-server", "h:1", "--output-dir", "x"], "--policy-server suggests tactics only"),
        (["--model-path", "nowhere"], "nowhere"),
        (["--model-path", "nowhere", "--samples", "0"], "--samples must be >= 1, got 0"),
    ],
)
def test_what_a_user_can_get_wrong(
    more: list[str], complaint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=complaint):
        prover_eval.main(["--whole-proofs", "--datasets", "nanolean", *more])


def test_repairs_are_for_whole_proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    with pytest.raises(UserError, match="--repair is for --whole-proofs"):
        prover_eval.main(["--policy", "solver-only", "--repair", "1"])


# -- over NanoLean -----------------------------------------------------------------------------------------------

SOURCE = """theorem swap (p q : Prop) (h : p ∧ q) : q ∧ p := by
  sorry

theorem zero (n : Nat) : n + 0 = n := by
  sorry

theorem never : False := by
  sorry
"""
TEXTS = {
    "swap": ["  constructor\n  · exact h.2\n  · exact h.1", "```lean4\nexact ⟨h.2, h.1⟩\n```", "simp at h", "sorry"],
    "zero": ["  rfl", "induction n with", "import Mathlib\ntheorem zero (n : Nat) : n + 0 = n := by\n  simp", "omega"],
    "never": ["trivial", "theorem never : True := by\n  trivial", "axiom a : False", "exact (by sorry)"],
}


class Writer(scripted_whole.Model):
    """Writes the texts above, four for each theorem."""

    def _samples(self, prompt: str, options: GenerationOptions, seed: int) -> list[TextSample]:
        name = next(name for name in TEXTS if f"theorem {name} " in prompt)
        return [TextSample(text, -1.0, len(text), True) for text in TEXTS[name]][: options.num_samples]


@contextmanager
def open_writer(spec: str, dist: Any, texts: Any = None, limits: Any = None) -> Iterator[Writer]:
    yield Writer()


def test_whole_proofs_over_nanolean_are_certified_and_hold_when_checked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "mine.lean", tmp_path / "out"
    file.write_text(SOURCE, encoding="utf-8")
    monkeypatch.undo()
    monkeypatch.setattr(eval_command, "open_language_model", open_writer)
    monkeypatch.setattr(eval_command, "whole_proof_prompts", scripted_whole.prompts)
    monkeypatch.setattr(prover_eval, "targets_of", lambda args: [eval_command.Target(None, str(file), out)])
    more: Sequence[str] = ["--samples", "4", "--lean-processes", "2", "--device-type", "cpu", "--log-level", "warning"]
    assert prover_eval.main(["--whole-proofs", "--policy", "uniform", "--datasets", str(file), *more]) == 0
    found = {key: (record["outcome"], record["stop_reason"]) for key, record in samples(out).items()}
    assert [found["swap", k][0] for k in range(4)] == ["proven", "proven", "unproven", "unproven"]
    assert [found["zero", k][0] for k in range(4)] == ["proven", "unproven", "proven", "proven"]
    assert [found["never", k] for k in range(4)] == [
        ("unproven", "whole_text"),
        ("unproven", "unreadable"),
        ("unproven", "words"),
        ("unproven", "words"),
    ]
    summary = read_json(out / "summary.json")
    assert (summary["solved"], summary["total"], summary["certificates"]) == (2, 3, 2)
    assert samples(out)["swap", 0]["premises_from"] == "lean"
    capsys.readouterr()
    assert check_with_lean.main([str(out / "proofs"), "--lean", "nanolean", "--certificates"]) == 0
    assert check_with_lean.main([str(out / "proofs"), "--lean", "nanolean"]) == 0
    assert "2 of 2 results hold against the statements as given" in capsys.readouterr().out

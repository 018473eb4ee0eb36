"""`scripts.compare_evals`: two evaluations of the same theorems, side by side."""

import pytest

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json, read_json
from nanoproof.common.retired import RETIRED
from nanoproof.evaluation.results import EvalSettings, EvaluationFiles
from nanoproof.evaluation.summary import summarize_repeats, theorem_key
from nanoproof.lean.types import Theorem
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.prover.attempt import Attempt
from scripts import compare_evals

OUTCOMES = {"+": "proven", "-": "unproven", "!": "error"}


def evaluation(path, marks, seed=0, simulations=8, **more):
    """An evaluation with these outcomes at `path`."""
    theorems = [Theorem(f"theorem t{number} : True := by sorry", "d", f"t{number}") for number in range(len(marks))]
    settings = EvalSettings("d", "valid", simulations, seed, **more)
    files = EvaluationFiles(path, theorems, settings)
    files.begin({}, "new")
    with files.writer(0) as writer:
        for theorem, mark in zip(theorems, marks):
            writer.add(
                Attempt(theorem, OUTCOMES[mark], source="proof", counts={"simulations": 3, "tactic_samples": 18})
            )
    files.finish(1.0)
    return path


def compared(first, second, tmp_path):
    out = tmp_path / "out.json"
    assert compare_evals.main([str(first), str(second), "--json", str(out)]) == 0
    return read_json(out)


def test_the_paired_table_its_test_and_what_changed(tmp_path, capsys):
    before, after = evaluation(tmp_path / "a", "++--------"), evaluation(tmp_path / "b", "+-++++++--")
    (found,) = compared(before, after, tmp_path)["pairs"].values()
    assert found["cells"] == {"both": 1, "only_first": 1, "only_second": 6, "neither": 2}
    assert found["p"] == pytest.approx(0.125) and found["difference"] == 0.5
    assert (found["gained"], found["lost"]) == ([f"t{number}" for number in range(2, 8)], ["t1"])
    printed = capsys.readouterr().out
    assert "A: 2/10 solved" in printed and "B: 7/10 solved" in printed and "p = 0.125" in printed


def test_who_accepts_the_proofs_stands_beside_the_score(tmp_path, capsys):
    before, after = evaluation(tmp_path / "a", "+-"), evaluation(tmp_path / "b", "++")
    summary = read_json(after / "summary.json")
    summary["verdicts"] = {"proofs": 2, "nanolean": 2, "outside": {"Lean 4.35.0's kernel": 1}, "refused": {}}
    atomic_write_json(after / "summary.json", summary)
    compared(before, after, tmp_path)
    printed = capsys.readouterr().out
    assert "B: proofs accepted 2 by NanoLean's checker, 1 by Lean 4.35.0's kernel" in printed
    assert "A: proofs accepted" not in printed


def test_budgets_settings_and_errors_that_differ_are_said(tmp_path, capsys):
    before = evaluation(tmp_path / "a", "+!", sampling=SamplingConfig())
    after = evaluation(tmp_path / "b", "++", seed=3, simulations=16, sampling=SamplingConfig(temperature=2.0))
    (found,) = compared(before, after, tmp_path)["pairs"].values()
    assert found["errors"] == ["t1"] and found["settings"] == {"temperature": [1.0, 2.0]}
    printed = capsys.readouterr().out
    assert (
        "errors at 1 theorem, which counts as not solved" in printed
        and "budget: simulations 8 in A, 16 in B" in printed
    )


def test_an_evaluation_from_before_an_option_was_gone_goes_on_unless_it_was_used(tmp_path):
    path = evaluation(tmp_path / "a", "+-")
    theorems = [Theorem(f"theorem t{number} : True := by sorry", "d", f"t{number}") for number in range(2)]
    record, again = read_json(path / "settings.json"), EvaluationFiles(path, theorems, EvalSettings("d", "valid", 8, 0))
    atomic_write_json(path / "settings.json", {**record, "settings": {**record["settings"], **RETIRED}})
    again.check("continue")
    used = {**record["settings"], **RETIRED, "search_reuse_proofs": True}
    atomic_write_json(path / "settings.json", {**record, "settings": used})
    with pytest.raises(UserError, match=r"had other settings: .*reuse"):
        again.check("continue")


def test_settings_that_only_one_of_two_kinds_has_are_one_line() -> None:
    differing = {"policy": ["solver-only", "model"], "top_p": [None, 1.0], "seed": [1, 2], "samples": [8, None]}
    assert compare_evals.settings_lines({**differing, "temperature": [None, 0.5]}) == [
        "settings: policy solver-only in A, model in B",
        "settings: seed 1 in A, 2 in B",
        "settings of A alone: samples 8",
        "settings of B alone: top_p 1.0, temperature 0.5",
    ]


def test_other_theorems_are_refused(tmp_path):
    before, after = evaluation(tmp_path / "a", "++"), evaluation(tmp_path / "b", "+++")
    with pytest.raises(UserError, match=r"not of the same theorems: 1 only in .*b \(t2\)"):
        compare_evals.main([str(before), str(after)])


def test_repeated_evaluations_are_compared_by_their_rates_too(tmp_path, capsys):
    for name, runs in (("a", ("+---", "----")), ("b", ("++++", "+++-"))):
        for number, marks in enumerate(runs):
            evaluation(tmp_path / name / f"run_{number}", marks, seed=number)
    result = compared(tmp_path / "a", tmp_path / "b", tmp_path)
    assert list(result["pairs"]) == ["run_0", "run_1"]
    assert result["rates"]["means"] == [0.125, 0.875] and result["rates"]["p"] == 0.125


@pytest.mark.parametrize("make", ["nothing", "unfinished"])
def test_what_is_no_finished_evaluation_is_one_line(tmp_path, make):
    other = tmp_path / "other"
    other.mkdir()
    if make == "unfinished":
        (evaluation(tmp_path / "other" / "x", "+") / "summary.json").unlink()
    with pytest.raises(UserError, match=r"is not over|holds no evaluation"):
        compare_evals.main([str(evaluation(tmp_path / "a", "+")), str(other)])


def test_a_name_that_is_misspelt_gets_the_nearest(tmp_path):
    evaluation(tmp_path / "eval_rl", "+")
    with pytest.raises(UserError, match=r"eval_r: nothing there; .*; did you mean .*eval_rl\?"):
        compare_evals.main([str(tmp_path / "eval_rl"), str(tmp_path / "eval_r")])


def test_a_file_that_cannot_be_written_is_one_line(tmp_path):
    first, second = evaluation(tmp_path / "a", "+"), evaluation(tmp_path / "b", "-")
    with pytest.raises(UserError, match=r"^cannot write --json "):
        compare_evals.main([str(first), str(second), "--json", str(first / "summary.json" / "out.json")])


def test_repeats_count_theorems_by_how_often_they_were_solved():
    theorems = [Theorem(f"theorem t{number} : True := by sorry", "d", f"t{number}") for number in range(3)]
    runs = [
        {theorem_key(theorem): Attempt(theorem, OUTCOMES[mark]) for theorem, mark in zip(theorems, marks)}
        for marks in ("++-", "+--", "+!-", "++-")
    ]
    summary = summarize_repeats(runs)
    assert (summary["always"], summary["sometimes"], summary["never"]) == (1, 1, 1)
    assert summary["pass_at"] == {
        "1": pytest.approx(0.5),
        "2": pytest.approx((1 + 5 / 6) / 3),
        "4": pytest.approx(2 / 3),
    }
    assert summary["solved"] == [2, 1, 1, 2] and summary["errors"] == [0, 0, 1, 0]
    assert summary["share_sd"] == pytest.approx(0.19245, abs=1e-4)

"""`scripts.run_evaluation` and `scripts.run_generation_and_test`: statements in, results out, over NanoLean."""

import gzip
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json
from nanoproof.data.theorems.theorem_sets import read_theorems
from nanoproof.evaluation import command as eval_command
from nanoproof.evaluation.statements import Statement, metrics_of, read_statements, verdict_of, write_theorems
from nanoproof.inference.language_model import TextSample
from nanoproof.lean.server.backend import ServerSettings, make_backend
from nanoproof.lean.types import Theorem
from nanoproof.policy.factory import whole_proof_prompts
from nanoproof.policy.policy_options import TextModelOptions
from nanoproof.prover.attempt import Attempt
from scripts import prover_eval, run_evaluation, run_generation_and_test
from tests.evaluation.scripted_whole import Model

ROWS = [
    {"formal_statement": "theorem a (p q : Prop) (h : p ∧ q) : q ∧ p := by sorry", "split": "made valid"},
    {"formal_statement": "theorem b (n : Nat) : n + 0 = n :=  sorry", "split": "made test", "tags": ["algebra"]},
    {
        "formal_statement": "theorem c : False := by\n  sorry",
        "split": "made test",
        "header": "import Mathlib\nopen Nat\n",
    },
    {"formal_statement": "theorem a (n : Nat) : n = n := by", "split": "made valid", "tags": None},
]
TEXTS = {"q ∧ p": "  exact ⟨h.2, h.1⟩\n```", "n + 0": "by\n  rfl", "False": "sorry", "n = n": "simp at nothing"}


class Writer(Model):
    """Writes the text for what the prompt states."""

    def _samples(self, prompt: str, options: Any, seed: int) -> list[TextSample]:
        text = next(text for part, text in TEXTS.items() if part in prompt)
        return [TextSample(text, -1.0, 3, True)] * options.num_samples


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def opened(spec: str, dist: Any, texts: Any = None, limits: Any = None) -> Iterator[Writer]:
        yield Writer()

    def targets_of(args: Any) -> list[eval_command.Target]:
        return [eval_command.Target(None, args.datasets[0], Path(args.output_dir))]

    monkeypatch.setattr(eval_command, "open_language_model", opened)
    monkeypatch.setattr(prover_eval, "targets_of", targets_of)


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    lines = "\n".join(json.dumps(row) for row in rows)
    path.write_text(lines if path.suffix == ".jsonl" else json.dumps(rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["statements.json", "statements.jsonl"])
def test_statements_are_read_up_to_their_last_sorry(tmp_path: Path, name: str) -> None:
    found = read_statements(write(tmp_path / name, ROWS))
    assert [each.statement.splitlines()[0] for each in found] == [
        "theorem a (p q : Prop) (h : p ∧ q) : q ∧ p := by",
        "theorem b (n : Nat) : n + 0 = n :=",
        "theorem c : False := by",
        "theorem a (n : Nat) : n = n := by",
    ]
    assert [each.label for each in found] == [
        ("made valid",),
        ("made test", "algebra"),
        ("made test",),
        ("made valid",),
    ]
    assert found[2].theorem("2").source == "open Nat\n\ntheorem c : False := by\n  sorry"
    assert found[1].theorem("1").source.endswith(":= sorry")


def test_metrics_have_the_given_names_and_are_zeros_for_nothing() -> None:
    metrics = metrics_of([])
    assert metrics == {
        **dict.fromkeys(("pass_rate", "complete_rate", "error_rate", "sorry_rate", "system_error_rate"), 0.0),
        "total": 0,
        "counts": {"passed": 0, "complete": 0, "has_errors": 0, "has_sorries": 0, "has_system_errors": 0},
        "by_label": {},
    }


def test_a_verdict_tells_errors_sorries_and_lost_servers_apart() -> None:
    theorem = Theorem("theorem t : True := by sorry", "made", "t")

    def fields(outcome: Any, stop_reason: str, message: str = "why") -> dict[str, Any]:
        return verdict_of(Attempt(theorem, outcome, message, stop_reason=stop_reason))

    assert (proven := fields("proven", "solved"))["complete"] and proven["pass"] and not proven["errors"]
    assert (refused := fields("unproven", "whole_text"))["errors"] == ["why"] and not refused["pass"]
    assert (axioms := fields("unproven", "axioms"))["pass"] and not axioms["complete"] and not axioms["errors"]
    assert fields("unproven", "no_sorry")["sorries"] and fields("unproven", "words", "`sorry` is not")["sorries"]
    assert (lost := fields("error", "ProcessLost"))["system_messages"] == "why" and not lost["complete"]
    assert lost["system_errors"] == "test failed"
    assert "system_messages" not in fields("error", "TheoremRejected")
    assert Statement("t", None, ("a",)).to_json() == {"statement": "t", "header": None, "label": ["a"]}


def evaluate(tmp_path: Path, file: Path, *more: str) -> dict[str, Any]:
    words = ["--dataset_path", str(file), "--model_name", "m", "--output_dir", str(tmp_path / "out"), *more]
    assert run_evaluation.main([*words, "--lean-processes", "2", "--device", "cpu"]) == 0
    found: dict[str, Any] = read_json(tmp_path / "out" / "evaluation_results.json")
    return found


def test_an_evaluation_has_metrics_results_and_config(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = evaluate(tmp_path, write(tmp_path / "statements.jsonl", ROWS), "--temperature", "0.5")
    assert found.keys() == {"metrics", "results", "config"}
    metrics = found["metrics"]
    assert (metrics["total"], metrics["complete_rate"], metrics["pass_rate"]) == (4, 50.0, 50.0)
    assert metrics["counts"] == {
        **{"passed": 2, "complete": 2, "has_errors": 1, "has_sorries": 1, "has_system_errors": 0}
    }
    assert metrics["by_label"]["made valid"] == {"total": 2, "complete_rate": 50.0, "pass_rate": 50.0}
    assert metrics["by_label"]["algebra"]["complete_rate"] == 100.0
    complete = {each["statement"]: each for each in found["results"] if each["complete"]}
    proved = complete["theorem a (p q : Prop) (h : p ∧ q) : q ∧ p := by"]
    assert proved["proof"] == "  exact ⟨h.2, h.1⟩" and "And" in " ".join(proved["invokes"])
    assert proved["verified_code"].endswith(":= by\n  exact ⟨h.2, h.1⟩")
    assert (found["config"]["temperature"], found["config"]["max_problems"]) == (0.5, 100)
    assert "complete        50.00%  (2)" in capsys.readouterr().out


def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    file = write(tmp_path / "statements.json", ROWS)
    assert evaluate(tmp_path, file) == evaluate(tmp_path, file)


def test_a_sample_is_drawn_by_the_seed(tmp_path: Path) -> None:
    found = evaluate(tmp_path, write(tmp_path / "statements.json", ROWS), "--max-problems", "2", "--seed", "3")
    assert found["metrics"]["total"] == 2


def test_nothing_in_gives_zeros(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = evaluate(tmp_path, write(tmp_path / "none.json", []))
    assert found["metrics"]["total"] == 0 and found["results"] == []
    assert "statements: 0" in capsys.readouterr().out


def test_a_statement_that_is_none_is_an_error_of_its_own(tmp_path: Path) -> None:
    rows = [*ROWS[:1], {"formal_statement": "what is this", "split": "x"}]
    found = evaluate(tmp_path, write(tmp_path / "statements.json", rows))
    assert found["metrics"]["counts"]["has_errors"] == 1 and found["metrics"]["counts"]["complete"] == 1


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--dataset-path", "nowhere.json"], "no such file of statements"),
        (["--tokenizer-path", "other"], "a model comes with its own tokenizer"),
        (["--lake-path", "lake"], "need a server: python -m nanoproof.lean.server"),
        (["--max-tokens", "0"], "--max-tokens must be >= 1"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, more: list[str], complaint: str) -> None:
    words = ["--dataset-path", str(write(tmp_path / "f.json", ROWS)), "--model-name", "m", "--output-dir", "out"]
    with pytest.raises(UserError, match=complaint):
        run_evaluation.main([*words, *more])


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{"a": 1}', "must hold a list"),
        ('[{"split": "x"}]', "the field 'formal_statement' must be a text, it is missing"),
        ('[{"formal_statement": "t", "split": 3}]', "`split`, `tags` and `label` texts"),
        ("[3]", "expected an object"),
        ("nonsense", "not valid JSON"),
    ],
)
def test_files_that_are_no_statements_are_refused(tmp_path: Path, content: str, complaint: str) -> None:
    (tmp_path / "f.json").write_text(content)
    with pytest.raises(UserError, match=complaint):
        read_statements(tmp_path / "f.json")


def test_benchmarks_are_sampled_written_and_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "made.jsonl", ROWS[:3])
    config = tmp_path / "benchmark.json"
    config.write_text(json.dumps([{"dataset_path": "made.jsonl", "weight": 5, "label": ["ignored"]}]))
    words = ["m", str(tmp_path / "out"), "--raw_dataset_config", str(config), "--lean-processes", "2"]
    for _ in range(2):  # the second time nothing is left to do
        assert run_generation_and_test.main([*words, "--budgets", "1,5", "--device-type", "cpu"]) == 0
        with gzip.open(tmp_path / "out" / "generated_proofs_tests.jsonl.gz", "rt", encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
        assert len(records) == 15 and {record["iter"] for record in records} == {0, 1, 2, 3, 4}
        assert {(r["lemma_id"], r["complete"], r["label"][0]) for r in records} == {
            (0, True, "made valid"),
            (1, True, "made test"),
            (2, False, "made test"),
        }
        printed = capsys.readouterr().out
        assert "made test: 2 statements, 5 samples of each" in printed and "50.0 +- 0.0" in printed


def test_a_benchmark_by_name_has_its_split_as_label(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.lean").write_text("theorem a (p q : Prop) (h : p ∧ q) : q ∧ p := by\n  sorry\n", encoding="utf-8")
    words = ["m", str(tmp_path / "out"), "--datasets", str(tmp_path / "mine.lean"), "--samples", "2"]
    assert run_generation_and_test.main([*words, "--lean-processes", "1", "--budgets", "2"]) == 0
    assert "mine valid: 1 statements, 2 samples of each" in capsys.readouterr().out


def test_a_configuration_of_another_shape_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('[{"dataset_path": "x.json", "weight": 0}]')
    with pytest.raises(UserError, match="entry 1: expected"):
        run_generation_and_test.main(["m", str(tmp_path / "out"), "--raw-dataset-config", str(tmp_path / "c.json")])


# -- Headers ---------------------------------------------------------------------------------------------------------

COMPLETE = "Complete the following Lean 4 code:\n\n```lean4\n"
DEFAULT = "import Mathlib\nimport Aesop\nset_option maxHeartbeats 0\nopen BigOperators Real Nat Topology Rat\n\n"
HEADERS = st.none() | st.sampled_from(
    ["", "import Mathlib\n\n", "import Mathlib\nopen Nat\n", "import A\nimport B\n\nopen C in\n", "open scoped Nat\n\n"]
)
STATEMENTS = st.sampled_from(
    [
        "theorem a : succ 0 = 1 := by",
        "theorem b (n : ℕ)\n  : n = n :=",
        "/-- c -/\n@[simp] theorem c : p :=by",
        "/-- as in\nimport Nothing -/\ntheorem d : p := by",
    ]
)


@given(HEADERS, STATEMENTS)
def test_a_prompt_shows_the_header_that_lean_checks(header: str | None, statement: str) -> None:
    theorem = Statement(statement, header).theorem("a")
    prompt, _ = whole_proof_prompts("hf:x", TextModelOptions(prompt_format="stp"))
    above = DEFAULT if header is None else header
    assert prompt(theorem) == COMPLETE + above + statement
    checked = [line for line in theorem.source.split("\n") if not line.startswith("import")]
    shown = [line for line in (above + statement).split("\n") if not line.startswith("import")]
    assert "".join(checked).replace(" ", "").startswith("".join(shown).replace(" ", ""))


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("theorem a : True := by\n  sorry -- sorry", "theorem a : True := by"),
        ("/-- sorry -/\ntheorem a : True :=", "/-- sorry -/\ntheorem a : True :="),
        ("theorem sorry_free : True := by", "theorem sorry_free : True := by"),
    ],
)
def test_a_sorry_of_a_comment_or_a_name_is_none(tmp_path: Path, text: str, statement: str) -> None:
    (found,) = read_statements(write(tmp_path / "f.json", [{"formal_statement": text, "tags": "algebra"}]))
    assert found.statement == statement and found.label == ("algebra",)


def test_a_theorem_without_a_header_of_its_own_is_shown_as_lean_checks_it() -> None:
    theorem = Theorem("theorem a : Nat.succ 0 = 1 := by sorry")
    for name in ("stp", "deepseek-v1.5"):
        prompt, _ = whole_proof_prompts("hf:x", TextModelOptions(prompt_format=name))
        assert "import Mathlib\n" in prompt(theorem) and "open" not in prompt(theorem)


@pytest.mark.nightly
def test_rows_without_a_header_can_be_read_by_the_embedded_lean(tmp_path: Path) -> None:
    rows = [{"formal_statement": "theorem a : succ 0 = 1 := by\n  sorry", "header": None, "split": "x"}]
    (statement,) = read_statements(write(tmp_path / "rows.json", rows))
    write_theorems(tmp_path / "theorems.jsonl", [statement])
    (theorem,) = read_theorems(str(tmp_path / "theorems.jsonl"))
    assert theorem.as_written == f"{DEFAULT}theorem a : succ 0 = 1 := by"
    requests = [{"cmd": theorem.source.replace("sorry", "rfl")}, {"cmd": "open Nowhere"}]
    command = make_backend(ServerSettings(backend="nanolean")).command
    text = "".join(json.dumps(request) + "\n\n" for request in requests)
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)
    fine, unknown = (json.loads(answer) for answer in done.stdout.strip().split("\n\n"))
    assert "messages" not in fine and "unknown namespace" in unknown["messages"][0]["data"]

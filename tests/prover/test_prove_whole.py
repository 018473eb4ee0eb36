"""`scripts.prove --whole-proof` over NanoLean, with a scripted model."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nanoproof.common.errors import UserError
from nanoproof.inference.language_model import GenerationOptions, TextSample
from nanoproof.search.policy import PolicyUnreachable
from scripts import prove
from tests.evaluation.scripted_whole import prompts

SWAP = "theorem swap (p q : Prop) (h : p ∧ q) : q ∧ p"


class Scripted:
    """Writes the texts one after the other, and keeps the prompts."""

    name = "scripted"

    def __init__(self, *texts: str) -> None:
        self.texts, self.prompts, self.seeds = list(texts), [], []  # type: ignore[var-annotated]

    def generate(
        self, prompts: Sequence[str], options: GenerationOptions, seeds: Sequence[int]
    ) -> list[list[TextSample]]:
        self.prompts += prompts
        self.seeds += seeds
        if not self.texts:
            raise PolicyUnreachable("the model is gone")
        count = options.num_samples
        found, self.texts = self.texts[:count], self.texts[count:] or self.texts[-1:]
        found += found[-1:] * (count - len(found))
        return [[TextSample(text, -1.0, 4, True) for text in found]]

    def close(self) -> None:
        pass


@pytest.fixture
def writing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A function that runs the command with a model that writes these texts."""

    def run(model: Scripted, *words: str) -> int:
        @contextmanager
        def opened(spec: str, dist: Any, texts: Any = None) -> Iterator[Scripted]:
            yield model

        monkeypatch.setattr("nanoproof.policy.models.open_language_model", opened)
        monkeypatch.setattr(prove, "whole_proof_prompts", prompts)
        return prove.main([*words, "--whole-proof", "--model-path", "m", "--device-type", "cpu"])

    return run


def test_the_first_text_that_holds_is_the_proof(writing: Any, capsys: pytest.CaptureFixture[str]) -> None:
    model = Scripted("simp at nothing", "sorry", "  constructor\n  · exact h.2\n  · exact h.1\n```\nQED", "rfl")
    assert writing(model, SWAP, "--samples", "20", "--samples-at-once", "2") == 0
    printed = capsys.readouterr().out
    assert "proven in 1 tactic, checked in a fresh environment (axioms: none)" in printed
    assert "whole proofs: 3 sampled, 12 tokens" in printed and "  · exact h.2\n  · exact h.1" in printed
    assert model.prompts == [f"{SWAP} := by sorry"] * 2 and len(set(model.seeds)) == 2


def test_what_no_text_proves_is_said_with_the_last_reason(writing: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert writing(Scripted("exact sorry"), "theorem f : False", "--samples", "3") == 1
    printed = capsys.readouterr().out
    assert "no proof among 3 texts; the last was refused: `sorry` is not allowed in a proof" in printed


def test_errors_go_back_to_the_model(writing: Any, capsys: pytest.CaptureFixture[str]) -> None:
    model = Scripted("exact h", "exact ⟨h.2, h.1⟩")
    assert writing(model, SWAP, "--samples", "1", "--repair", "2") == 0
    assert "Lean says:" in model.prompts[1] and "exact h\n" in model.prompts[1]
    assert "8 tokens" in capsys.readouterr().out


def test_the_sorries_of_a_file_are_filled(writing: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.lean"
    file.write_text(f"{SWAP} := by\n  sorry\n\ntheorem t : True := by\n  sorry\n", encoding="utf-8")
    assert writing(Scripted("exact ⟨h.2, h.1⟩", "trivial"), str(file), "--samples", "2", "--samples-at-once", "1") == 0
    written = (tmp_path / "a.proved.lean").read_text(encoding="utf-8")
    assert "exact ⟨h.2, h.1⟩" in written and "trivial" in written and "2 of 2 proved" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["theorem f : Nope", "--whole-proof", "--model-path", "m"], "Nope"),
        (["theorem f : False", "--whole-proof"], "--whole-proof needs a model that writes text: --model-path"),
        (["theorem f : False", "--whole-proof", "--policy", "solver-only"], "--whole-proof needs a model"),
        (["theorem f : False", "--whole-proof", "--model-path", "m", "--disprove"], "does not go with --disprove"),
        (["theorem f : False", "--whole-proof", "--model-path", "m", "--samples", "0"], "--samples must be >= 1"),
    ],
)
def test_mistakes_are_one_line(words: list[str], complaint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def opened(spec: str, dist: Any, texts: Any = None) -> Iterator[Scripted]:
        yield Scripted("trivial")

    monkeypatch.setattr("nanoproof.policy.models.open_language_model", opened)
    with pytest.raises(UserError, match=complaint):
        prove.main([*words, "--device-type", "cpu"])


def test_a_model_that_is_gone_is_one_line(writing: Any) -> None:
    with pytest.raises(UserError, match="the model is gone"):
        writing(Scripted(), "theorem f : False")

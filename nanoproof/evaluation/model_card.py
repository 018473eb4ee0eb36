"""The model card of an exported network: what it is, how it is loaded, and scores of evaluations, which are read only.

A score stands on the card when its evaluation is over, is one of exactly these weights, and its `results.jsonl` counts
to what its `summary.json` says. Nothing else is a score.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json
from nanoproof.evaluation.results import RESULTS, SUMMARY, read_attempts
from nanoproof.evaluation.summary import by_theorem, count_outcome, wilson
from nanoproof.lean.certificates import accepted_by

REPOSITORY = "nanoproof, an open theorem prover for Lean 4"


@dataclass(frozen=True)
class Score:
    """What an evaluation says of a network, with all of its settings."""

    solved: int
    total: int
    errors: int
    settings: dict[str, Any]
    baseline: tuple[int, int] | None  # solved and total of the solver tactics alone
    revision: str
    accepted: str = ""
    """How many of the proofs which checkers accept."""

    @property
    def budget(self) -> str:
        """Tell how much each theorem was tried."""
        if "samples" in self.settings:
            return f"{self.settings['samples']} whole proofs"
        return f"{self.settings['num_simulations']} simulations"


def read_score(directory: Path, sha256: str) -> Score:
    """Read an evaluation of the weights with this SHA-256.

    Raises UserError for one that is not over, is of other weights, or whose results and summary disagree.
    """
    where = f"--evaluations {directory}"
    if not (directory / SUMMARY).is_file():
        raise UserError(f"{where}: there is no {SUMMARY}, so no evaluation that is over")
    summary = read_json(directory / SUMMARY)
    try:
        settings = dict(summary["settings"])
        solved, total, errors = int(summary["solved"]), int(summary["total"]), int(summary["errors"])
        baseline = None
        if summary.get("baseline") is not None:
            baseline = int(summary["baseline"]["solved"]), int(summary["baseline"]["total"])
        revision = str(summary["versions"]["nanoproof"])
        accepted = accepted_by(summary.get("verdicts"))
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{where}: {SUMMARY} is no summary of an evaluation: {error!r}") from error
    if settings.get("model_sha256") != sha256:
        raise UserError(f"{where}: it is an evaluation of other weights (SHA-256 {settings.get('model_sha256')})")
    # A card is read by people who cannot run the evaluation: a summary that was edited must not become a score.
    attempts = by_theorem(read_attempts(directory / RESULTS)).values()
    proven = count_outcome(attempts, "proven")
    if (proven, len(attempts)) != (solved, total):
        raise UserError(
            f"{where}: {RESULTS} has {proven} solved of {len(attempts)}, and {SUMMARY} says {solved} of {total}"
        )
    return Score(solved, total, errors, settings, baseline, revision, accepted)


def model_card(name: str, about: dict[str, Any], scores: Sequence[Score], licence: str) -> str:
    """Write the card of a network, Markdown with the hub's header; `about` is its `config.json`."""
    shape = about["config"]
    header = {
        "license": licence,
        "library_name": "nanoproof",
        "pipeline_tag": "text-generation",
        "tags": ["lean4", "theorem-proving", "nanoproof"],
    }
    front = "\n".join(f"{key}: {json.dumps(value)}" for key, value in header.items())  # JSON is YAML
    stage = f", stage `{about['stage']}`" if about.get("stage") else ""
    return f"""---
{front}
---

# {name}

A network of {REPOSITORY}: for a proof state it suggests tactics, and says how many are left.
{about["num_parameters"]:,} parameters, {shape["depth"]} layers, {shape["sequence_len"]} positions, a vocabulary of \
{shape["vocab_size"]:,} tokens; step {about["step"]}{stage}; weights in {about["dtype"]}.

## Intended use

Tactics for a search that lets Lean check each of them. What the network writes may be wrong, so nothing of it counts
before Lean has accepted the finished proof. It is no chat model, and knows no natural language that it was not trained
on.

## How to load

With nanoproof installed, no other library and no code from this folder is needed:

```bash
hf download OWNER/NAME --local-dir DIR
python -m scripts.prove mine.lean --model hf:DIR
python -m nanoproof.inference --model-path hf:DIR
```

```python
from nanoproof.inference.open_model import open_model

with open_model("hf:DIR") as model:
    model.score("x : Nat\\n⊢ x = x\\n<|tactic|>", "rfl")
```

`model.safetensors` has the weights by the names of the parameters, `config.json` the shape and the SHA-256 of the other
files, `tokenizer.json` the vocabulary for the library `tokenizers`.

## Scores

{_scores(scores, about)}"""


def _scores(scores: Sequence[Score], about: dict[str, Any]) -> str:
    if not scores:
        return "No evaluation was named when this folder was made, so there are no scores here.\n"
    lines = [
        "Theorems solved, with 95% Wilson intervals; the baseline is solver tactics alone, where it was run.",
        "",
        "| data set | split | solved | share | interval | budget | seed | Lean | baseline | errors | proofs accepted |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for score in scores:
        settings, (low, high) = score.settings, wilson(score.solved, score.total)
        baseline = f"{score.baseline[0]} of {score.baseline[1]}" if score.baseline is not None else ""
        cells = [settings["dataset"], settings["split"], f"{score.solved} of {score.total}"]
        cells += [f"{100 * score.solved / max(1, score.total):.1f}%", f"{100 * low:.1f} to {100 * high:.1f}%"]
        cells += [score.budget, settings["seed"], settings["lean"], baseline, score.errors, score.accepted]
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    if about["dtype"] != "float32":
        lines += [
            "",
            f"They are those of the checkpoint in float32; the weights here were rounded to {about['dtype']}.",
        ]
    for score in scores:
        listed = json.dumps(score.settings, ensure_ascii=False, indent=2)
        title = f"Settings: {score.settings['dataset']} {score.settings['split']}, nanoproof {score.revision}"
        lines += ["", f"<details><summary>{title}</summary>", "", "```json", listed, "```", "", "</details>"]
    return "\n".join(lines) + "\n"

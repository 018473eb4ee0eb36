"""A data set that a tiny network learns in seconds, and a network that has learned it.

Run as a module it is `nanoproof.rl` with that data set added, so that torchrun can start it.
"""

from pathlib import Path

from nanoproof import sft
from nanoproof.common.errors import run_main
from nanoproof.data.theorems import theorem_sets as sets
from nanoproof.lean.types import Theorem, Transition
from nanoproof.model.tokenizer import train_tokenizer
from nanoproof.rl import __main__ as rl
from tests.training.small import write_leantree

PROPS, HYPOTHESES = ("p", "q", "r", "s", "a", "b"), ("h", "h1", "h2", "hp")


def tiny_theorems(split: str, lean_version: str | None = None) -> list[Theorem]:
    """`x → x` for every name: `intro h` and `exact h`; valid has the ones with a hypothesis."""
    if split == "train":
        return [Theorem(f"theorem t{x} ({x} : Prop) : {x} → {x} := by sorry", "tiny", f"t{x}") for x in PROPS]
    pairs = [(x, h) for x in PROPS[:2] for h in HYPOTHESES[:2]]
    return [
        Theorem(f"theorem v{x}{h} ({x} : Prop) ({h} : {x}) : {x} := by sorry", "tiny", f"v{x}{h}") for x, h in pairs
    ]


def tiny_transitions() -> list[Transition]:
    given = [Transition(f"{x} : Prop\n{h} : {x}\n⊢ {x}", f"exact {h}", 1) for x in PROPS for h in HYPOTHESES]
    return given + [Transition(f"{x} : Prop\n⊢ {x} → {x}", "intro h", 2) for x in PROPS for _ in range(4)]


def make_checkpoint(folder: Path) -> Path:
    """Train a network on the data set; returns the run directory. The transitions are `folder`/data.jsonl."""
    data, tokenizer = folder / "data.jsonl", folder / "tokenizer.json"
    write_leantree(data, tiny_transitions(), per_file=1)
    train_tokenizer([item.state + "\n" + item.tactic for item in tiny_transitions()], 480).save(tokenizer)
    words = ["--data", str(data), "--tokenizer", str(tokenizer), "--depth", "2", "--aspect-ratio", "16"]
    words += ["--head-dim", "16", "--sequence-len", "128", "--row-length", "128", "--target-examples-per-step", "16"]
    words += ["--epochs", "15", "--value-weight", "0.1", "--device-type", "cpu", "--run-dir", str(folder / "sft")]
    assert sft.main(words) == 0
    return folder / "sft"


def rl_words(folder: Path, run_dir: Path, steps: int) -> list[str]:
    """The command line of a small run on the data set."""
    words = ["--datasets", "tiny", "--eval-datasets", "tiny", "--sft-data", str(folder / "data.jsonl")]
    words += [
        "--run-dir",
        str(run_dir),
        "--num-steps",
        str(steps),
        "--collect-transitions",
        "8",
        "--lean-processes",
        "2",
    ]
    words += [
        "--search-finishers",
        "none",
        "--target-examples-per-step",
        "8",
        "--row-length",
        "128",
        "--mm-base-simulations",
        "8",
    ]
    words += [
        "--num-simulations-eval",
        "8",
        "--eval-every",
        "never",
        "--save-every",
        "1steps",
        "--monitor-port",
        "none",
    ]
    return [*words, "--device-type", "cpu", "--collect-max-time", "0:02:00"]


sets.DATASETS["tiny"] = tiny_theorems

if __name__ == "__main__":
    run_main(rl.main)

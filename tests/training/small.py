"""A small model, tokenizer and transitions for tests."""

import json
from pathlib import Path

import torch

from nanoproof.common.distributed import DistInfo
from nanoproof.data.transitions.packing import Example, ExampleLimits, encode_transition
from nanoproof.lean.types import Transition
from nanoproof.model.checkpoint import save_checkpoint
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.optim import MuonAdamW
from nanoproof.model.tokenizer import Tokenizer, train_tokenizer

NAMES = ["p", "q", "r", "s", "a", "b"]
ALONE = DistInfo(0, 0, 1, torch.device("cpu"), "test", torch.float32, "test")


def transitions(count: int = 60) -> list[Transition]:
    """Distinct states of the form `h : x ⊢ x`, whose tactic depends on the names."""
    made = []
    for index in range(count):
        x, y = NAMES[index % 6], NAMES[(index // 6) % 6]
        tactic = f"exact h{index % 5}" if x == y else f"apply {x}{y}"
        made.append(Transition(f"{x} {y} : Prop\nh{index % 5} : {x}\n⊢ {y}", tactic, 1 + index % 3, ""))
    return made


def tokenizer() -> Tokenizer:
    return train_tokenizer([item.state + "\n" + item.tactic for item in transitions()], vocab_size=480)


def model(words: Tokenizer, seed: int = 0, sequence_len: int = 128) -> GPT:
    torch.manual_seed(seed)
    config = GPTConfig(vocab_size=words.vocab_size, depth=2, aspect_ratio=16, head_dim=16, sequence_len=sequence_len)
    return GPT.create(config)


def save_model(folder: Path) -> None:
    """A checkpoint of the model, and the transitions beside it (`data.jsonl`)."""
    words = tokenizer()
    write_leantree(folder / "data.jsonl", transitions())
    save_checkpoint(folder, 0, model(words), words, extra={"stage": "sft"})


def examples(words: Tokenizer, count: int = 60) -> list[Example]:
    limits = ExampleLimits(sequence=128)
    made = [encode_transition(words, item, limits) for item in transitions(count)]
    return [example for example in made if example is not None]


def gradients(optimizer: MuonAdamW) -> dict[str, torch.Tensor]:
    """The gradients of the first step of an optimizer that is alone, up to a factor: its averages of them."""
    held = optimizer.state_dict()["state"]
    averages = {name: tensors.get("momentum", tensors.get("mean")) for name, tensors in held.items()}
    return {name: torch.cat([rows for _, rows in sorted(pieces.items())]) for name, pieces in averages.items()}


def write_leantree(path: Path, items: list[Transition], per_file: int = 4) -> None:
    """The transitions as LeanTree JSONL, each as a tree of one node."""
    with open(path, "w", encoding="utf-8") as file:
        for start in range(0, len(items), per_file):
            theorems = [{"by_blocks": [{"tree": tree_of(item)}]} for item in items[start : start + per_file]]
            record = {"path": f"F{start}.lean", "imports": [], "theorems": theorems}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def tree_of(item: Transition) -> dict:
    goal_type = item.state.split("⊢ ")[1]
    hypotheses = [
        {"user_name": name, "type": line.split(" : ")[1]}
        for line in item.state.split("\n")[:-1]
        for name in line.split(" : ")[0].split()
    ]
    edge = {"tactic_string": item.tactic, "span": None, "parent": 0, "children": [], "tactic_depends_on": None}
    state = {"goals": [{"type": goal_type, "hypotheses": hypotheses}]}
    node = {"id": 0, "state": state, "tactic": edge, "proof_size": item.depth, "proof_depth": item.depth}
    return {"root_id": 0, "nodes": [node]}

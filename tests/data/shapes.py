"""Every downloaded data set, small and made up, in the shape that its host serves; for `tests/fakes/hub.py`."""

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nanoproof.data.sources.catalog import CATALOG, PUTNAMBENCH_COMMIT
from tests.fakes.hub import FakeHub, Repository

NEMOTRON = "nvidia/Nemotron-CC-Math-v1"
LEAN_WORKBOOK = "internlm/Lean-Workbook"
PUTNAMBENCH = "trishullab/PutnamBench"
SHARDS = 46
PUTNAM = {
    "lean4/src/putnam_2099_a1.lean": """import Mathlib

open Nat

abbrev putnam_2099_a1_solution : Nat → Nat := sorry
--(fun n => n + 2)
/--
What is $n + 1 + 1$? No `sorry` of ours:
theorem of_the_text : False := sorry
-/
theorem putnam_2099_a1
    (n : Nat) :
    n + 1 + 1 = putnam_2099_a1_solution n :=
  sorry
""",
    "lean4/src/putnam_2099_b2.lean": """import Mathlib

noncomputable abbrev putnam_2099_b2_solution : Prop := sorry
-- True

-- a remark that is no answer
def twice (n : Nat) : Nat := n + n

/-- Is it $2n$? -/
theorem putnam_2099_b2 : (∀ n : Nat, twice n = n + n) ↔ putnam_2099_b2_solution := by
  sorry
""",
    "lean4/src/putnam_2098_a3.lean": """import Mathlib

/-- Show it. -/
theorem putnam_2098_a3
(p : Prop)
: p → p :=
sorry
""",
}
"""Made-up problems in PutnamBench's shape, which NanoLean can prove."""
THEOREM_COUNTS = {"leanworkbook": 3, "numinamath": 2, "deepseek_prover": 5, "minif2f": 500, "proofnet": 371}
THEOREM_COUNTS["putnambench"] = len(PUTNAM)
"""Theorems that each set's reader has to find in what `fill` publishes of it, over all splits."""


def parquet(**columns: list[Any]) -> bytes:
    """A parquet file."""
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, compression="none")
    return out.getvalue()


def jsonl(*records: Any) -> bytes:
    """A file of JSON lines."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def lean(count: int, split: str = "valid") -> bytes:
    """A file of theorems, as miniF2F's are."""
    parts = [f"theorem {split}_{n} (x : ℕ) (h : x = {n}) :\n    x + 1 = {n + 1} := by\n  sorry\n" for n in range(count)]
    return ("import Mathlib\n\nopen scoped Real\n\n" + "\n".join(parts)).encode()


def whitelist() -> bytes:
    """A whitelist as published."""
    record = {"lean_version": "v4.27.0", "num_checked": 1, "num_passing": 1, "num_failing": 0}
    return json.dumps({**record, "passing": ["0" * 16], "failing": []}).encode()


def shard(number: int) -> bytes:
    """One shard of nemotron."""
    return parquet(text=[f"Shard {number}, page {page}: one plus one is two. " * 3 for page in range(4)])


def workbook(count: int = 3) -> bytes:
    """Lean-Workbook."""
    statement = "theorem lean_workbook_{n} (x : ℝ) : x ^ 2 ≥ 0  :=  by sorry"
    return json.dumps(
        [
            {"formal_statement": statement.format(n=n), "proof": ["positivity"], "natural_language_statement": ""}
            for n in range(count)
        ]
    ).encode()


def fill(fake: FakeHub) -> None:
    """Publish everything that the catalog names."""
    span = {"start": 0, "finish": 9}
    edge = {"tactic_string": "trivial", "span": span, "parent": 0, "children": [], "tactic_depends_on": []}
    node = {"id": 0, "state": {"goals": [{"type": "True", "hypotheses": []}]}, "tactic": edge}
    tree = {"root_id": 0, "nodes": [{**node, "proof_size": 1, "proof_depth": 1}]}
    theorem = {"span": span, "name": "t", "context": [], "by_blocks": [{"tree": tree, "span": span}]}
    lean_files = [{"path": f"Mathlib/A{n}.lean", "imports": [], "theorems": [theorem]} for n in range(10)]
    numina = parquet(uuid=["a", "b"], formal_statement=["import Mathlib\ntheorem a : True := by"] * 2)
    deepseek = [
        {"name": f"d{n}", "formal_statement": f"theorem d{n} : True := by", "formal_proof": ""} for n in range(5)
    ]
    proofnet = [
        {"name": f"p{n}", "split": "valid", "header": "import Mathlib\n", "formal_statement": f"theorem p{n} : True :="}
        for n in range(371)
    ]
    hub = {
        NEMOTRON: {f"4plus/part_{n:06d}.parquet": shard(n) for n in range(SHARDS)}
        | {"3/part_000000.parquet": shard(99), "README.md": b"# Nemotron"},
        "ufal/leantree": {"leantree_mathlib.jsonl": jsonl(*lean_files), "README.md": b"# LeanTree"},
        "kfdong/STP_Lean_SFT": {
            "data/train-00000-of-00001.parquet": parquet(prompt=["a", "theorem lean_workbook_1"], target=["b", "c"]),
            "data/eval-00000-of-00001.parquet": parquet(prompt=["d"], target=["e"]),
        },
        LEAN_WORKBOOK: {"lean_workbook.json": workbook()},
        "AI-MO/NuminaMath-LEAN": {"data/train-00000-of-00001.parquet": numina},
        "deepseek-ai/DeepSeek-Prover-V1": {"dataset.jsonl": jsonl(*deepseek)},
    }
    git = {
        "google-deepmind/miniF2F": {"MiniF2F/Valid.lean": lean(256), "MiniF2F/Test.lean": lean(244, "test")},
        "Kripner/ProofNet": {"data/proofnet.jsonl": jsonl(*proofnet)},
        PUTNAMBENCH: {
            **{path: text.encode() for path, text in PUTNAM.items()},
            "README.md": b"# PutnamBench",
            "lean4/src/old/putnam_2099_a1.lean": lean(1),
            "lean4/src/notes.txt": b"theorem",
        },
        "Kripner/nanoproof": {
            source.path: whitelist() for data_set in CATALOG.values() for _, source in data_set.whitelists
        },
    }
    for table, repositories in ((fake.hub, hub), (fake.git, git)):
        for name, files in repositories.items():
            table[name] = Repository(gated=name == NEMOTRON)
            table[name].publish(files, PUTNAMBENCH_COMMIT if name == PUTNAMBENCH else "")

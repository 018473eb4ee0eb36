"""NanoLean as plain text, so that language models can be trained where nothing has been downloaded.

The documents are the files of the embedded library, and the proofs that the data set `nanolean` shows, written as Lean
theorems, some of them to a document. Statements without a shown proof are left out: they would teach `sorry`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nanolean.loader import library_files
from nanoproof.common.files import read_jsonl
from nanoproof.data.leantree import stated
from nanoproof.data.nanolean.made import transitions_file
from nanoproof.data.nanolean.problem import Step, render
from nanoproof.data.transitions import VALID_FRACTION


def nanolean_documents() -> tuple[list[str], list[str]]:
    """Documents to train on and to validate with, as the transitions are split; made on first use."""
    proofs = list(proof_documents(transitions_file()))
    first_valid = len(proofs) - int(len(proofs) * VALID_FRACTION)
    library = [path.read_text(encoding="utf-8") for path in library_files()]
    return [*library, *proofs[:first_valid]], proofs[first_valid:]


def proof_documents(path: Path) -> Iterator[str]:
    """One document for each line of a LeanTree file: its theorems with their proofs."""
    for line in read_jsonl(path):
        yield "\n\n".join(filter(None, map(theorem_text, line["theorems"]))) + "\n"


def theorem_text(theorem: dict[str, Any]) -> str | None:
    """A theorem with its proof, stated as its first goal; None where that has names that cannot be written."""
    nodes = {node["id"]: node for node in theorem["by_blocks"][0]["tree"]["nodes"]}
    root = theorem["by_blocks"][0]["tree"]["root_id"]
    statement = stated(theorem)
    if statement is None or "✝" in statement:
        return None
    return f"theorem {theorem['name']} {statement} := by\n{render(_proof(nodes, root))}"


def _proof(nodes: dict[int, dict[str, Any]], at: int) -> Step:
    edge = nodes[at]["tactic"]
    return Step(edge["tactic_string"], tuple(_proof(nodes, child) for child in edge["children"]))

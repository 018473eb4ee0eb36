"""A theorem to be proved."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Theorem:
    """A statement whose proof is missing.

    `source` is Lean text without imports (these are the server's) with exactly one `sorry`, the proof of its last
    declaration. `dataset` and `id` say where it comes from; the pair is unique.
    """

    source: str
    dataset: str = ""
    id: str = ""

"""Which statements may not be learned from, since a benchmark has them: by text, and of NanoLean as elaborated."""

from collections.abc import Sequence

from nanoproof.data import nanolean
from nanoproof.data.sources import manifest
from nanoproof.data.theorems.overlap import normal_form
from nanoproof.data.theorems.theorem_sets import list_theorems, splits_of
from nanoproof.lean.source import EXPLICIT, parse_declaration
from nanoproof.lean.types import SourceError

AUTO, NONE = "auto", "none"
"""What may be named besides sets: the benchmarks that are here, and nothing."""
BENCHMARKS = ("minif2f", "proofnet", "putnambench")
HELD_OUT, NOT_ELABORATED = "held out", "does not elaborate"


class HeldOut:
    """Tells which statements are those of held-out theorems, whatever their variables are called."""

    def __init__(self, names: Sequence[str], embedded: bool, with_train: bool = True) -> None:
        """`names` are sets, `auto`, or `none`. With `with_train` the training theorems of these sets are held out too.

        Raises UserError for a set that is not there.
        """
        sets = [name for name in names if name not in (AUTO, NONE)]
        self._elaborated: frozenset[str] = frozenset()
        # NanoLean compares what is elaborated, so that no other spelling gets through; real Lean would have to be asked
        # about each statement, and texts are compared up to the names of variables.
        if AUTO in names and embedded:
            self._elaborated = nanolean.held_out_keys(with_train)
        elif AUTO in names:
            sets += [name for name in BENCHMARKS if manifest.read_manifest(name) is not None]
        self._forms: set[str] = set()
        for name in dict.fromkeys(sets):
            for split in splits_of(name):
                if with_train or split != "train":
                    self._forms.update(_form(theorem.source) for theorem in list_theorems(name, split))
        self._forms.discard("")  # of statements that are too long or cannot be read: it would hold out all such

    def reason(self, source: str) -> str | None:
        """Return why the theorem of a source may not be learned from; None if it may."""
        if _form(source) in self._forms:
            return HELD_OUT
        if not self._elaborated:
            return None
        try:
            # The option makes no difference to a statement that is whole, and a key is that of a plain theorem.
            key = nanolean.statement_key(source.replace(EXPLICIT, ""))
        except SourceError:
            return NOT_ELABORATED
        return HELD_OUT if key in self._elaborated else None


def _form(source: str) -> str:
    """Return the normal form of a statement, the same for other names of its variables; "" if it cannot be read."""
    try:
        declaration = parse_declaration(source)
    except SourceError:
        return ""
    return normal_form(source[declaration.head_end : declaration.assign])

"""What a proof rests on, by the axioms that Lean reports for its theorem: nothing, or open places of the user's files.

A theorem that is proved from one with a `sorry` is proved if that one holds, and no more: it is *conditional*. Lean
tells: each open `sorry` is an axiom of its own (`lean/lean_file.py`) in what is checked here, the whole file with all
its proofs. So it counts what is used through other theorems, definitions, instances and files, and a proof becomes an
unconditional one when all that it rests on is proved, in whatever order that was.

Other `sorry`s of its own theorem are no condition of a proof: what it proves is the goal of one `sorry`, in which the
others are hypotheses. The theorem stays open with them.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nanoproof.lean.declarations import declared_names
from nanoproof.lean.lean_file import STAND_IN, Gap, LeanFile, OpenPlace
from nanoproof.lean.source import ALLOWED_AXIOMS, name_examples
from nanoproof.lean.types import CheckReport, LeanCalls

SORRY_AXIOM = "sorryAx"
UNKNOWN_PLACE = "a sorry whose place Lean does not tell"
_SHOWN = 4


@dataclass(frozen=True)
class Rest:
    """What a theorem rests on besides Lean's three axioms.

    `places` are open `sorry`s, `axioms` those that the user's own files declare; `unknown` says what else it is, where
    Lean names no place for it.
    """

    places: tuple[OpenPlace, ...] = ()
    axioms: tuple[str, ...] = ()
    unknown: str = ""

    @property
    def is_conditional(self) -> bool:
        """Whether it is proved only if something holds that is not proved."""
        return bool(self.places or self.unknown)

    def condition(self, file: str = "") -> str:
        """Return the condition in words, for a reader of `file`; empty if there is none."""
        names = [place.described(file) for place in self.places[:_SHOWN]]
        if len(self.places) > _SHOWN:
            names.append(f"{len(self.places) - _SHOWN} more")
        if self.unknown:
            names.append(self.unknown)
        if not names:
            return ""
        if len(names) == 1:
            return f"if {names[0]} holds"
        return f"if {', '.join(names[:-1])} and {names[-1]} hold"

    @property
    def open_places(self) -> tuple[OpenPlace, ...]:
        """The places, and one without file and line for what Lean names no place of."""
        if not self.unknown:
            return self.places
        return (*self.places, OpenPlace(self.unknown, "", 0))

    def to_json(self) -> list[dict[str, Any]]:
        """Convert the condition to JSON data: name, file and line of each place; null where Lean names none."""
        listed: list[dict[str, Any]] = []
        for place in self.places:
            listed.append({"name": place.name, "file": place.file, "line": place.line})
        if self.unknown:
            listed.append({"name": self.unknown, "file": None, "line": None})
        return listed


def read_axioms(axioms: Iterable[str], file: LeanFile, gap: Gap | None, numbers: Mapping[Gap, int]) -> Rest:
    """Tell what the axioms of the theorem with a `sorry` (or a proof in its place) mean; `numbers` are the file's.

    `gap` is None for a theorem without one.
    """
    places, own, other = list[OpenPlace](), list[str](), list[str]()
    places_of_file = file.places
    # The other `sorry`s of the same theorem are hypotheses of the goal that was proved, and no condition.
    inside: set[str] = set()
    if gap is not None:
        inside.update(file.stand_in(other) for other in file.gaps if numbers[other] == numbers[gap])
    for axiom in sorted(set(axioms) - ALLOWED_AXIOMS - inside):
        if axiom in places_of_file:
            places.append(places_of_file[axiom])
        elif STAND_IN.fullmatch(axiom):
            other.append("a sorry of a file that it imports")
        elif axiom == SORRY_AXIOM:
            other.append(UNKNOWN_PLACE)
        elif axiom.rpartition(".")[2] in file.axioms:
            own.append(axiom)
        else:
            other.append(f"the axiom {axiom}")
    # Those of the file itself first, as its reader knows them.
    places.sort(key=lambda place: (place.file != file.path, place.file, place.line, place.name))
    return Rest(tuple(dict.fromkeys(places)), tuple(own), " and ".join(dict.fromkeys(other)))


def judge(file: LeanFile, session: LeanCalls, raw: Collection[Gap] = ()) -> dict[Gap, Rest]:
    """Ask Lean what each proof of a file rests on; `raw` are `sorry`s that no axiom can stand in for.

    A proof is left out if Lean does not say it, which may be so in a file with errors. Raises LeanError if the server
    fails.
    """
    numbers = file.declaration_numbers()
    rests = _judge_together(file, session, raw, numbers)
    for gap, rest in list(rests.items()):
        # Lean speaks of the theorem: which of several proofs in it is to blame shows with each of them alone
        siblings = [other for other in rests if numbers[other] == numbers[gap] and other != gap]
        if rest.is_conditional and siblings:
            rests[gap] = _judge_together(file.without(siblings), session, raw, numbers).get(gap, rest)
    return rests


def _judge_together(
    file: LeanFile, session: LeanCalls, raw: Collection[Gap], numbers: Mapping[Gap, int]
) -> dict[Gap, Rest]:
    if not file.filled:
        return {}
    text = file.assuming([gap for gap in file.open_gaps if gap not in raw])
    names, report = declared_names(name_examples(text)), session.check(text)
    rests = {}
    for gap, _ in file.filled:
        axioms = _axioms_of(report, names, numbers[gap])
        if axioms is not None:
            rests[gap] = read_axioms(axioms, file, gap, numbers)
    return rests


def axioms_of_file(file: LeanFile, report: CheckReport) -> tuple[str, ...]:
    """Return the axioms that the file's own declarations rest on, by the report on what `checked` gives; of a server
    that does not tell them one by one, those of what comes before the file too.
    """
    names = declared_names(name_examples(file.checked()))
    own = set(names[len(declared_names(name_examples(file.before))) :])
    if not report.axioms_of:
        return report.axioms
    axioms: set[str] = set()
    for name, axioms_of_name in report.axioms_of:
        if name in own:
            axioms.update(axioms_of_name)
    return tuple(sorted(axioms))


def _axioms_of(report: CheckReport, names: list[str], number: int) -> tuple[str, ...] | None:
    """Return the axioms of a declaration by its number; None if Lean does not say."""
    if 0 <= number < len(names):
        for name, axioms in report.axioms_of:
            if name == names[number]:
                return axioms
    # A server that does not tell them one by one tells those of the whole text: more than the truth, never less.
    if report.errors:
        return None
    return report.axioms

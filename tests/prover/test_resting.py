"""What proofs rest on, in random files: nothing conditional is among the proved, and what is proved holds by itself."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nanolean.kernel.env import axioms_of
from nanolean.tests.library import run
from nanoproof.lean.lean_file import LeanFile, OpenPlace
from nanoproof.lean.types import LeanSession
from nanoproof.prover.cli_input import SorryFiller
from nanoproof.prover.interactive import InteractiveProver
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.prover.resting import UNKNOWN_PLACE, Rest
from nanoproof.search.config import SearchConfig
from tests.fakes.policy import saying

NAMES = [f"t{number}" for number in range(6)]


@st.composite
def files(draw: st.DrawFn) -> str:
    """Declarations, each of a kind: true or false and open, by an earlier one, data, or in two parts."""
    lines, false, data = [], [], []
    for name in NAMES:
        kinds = ["true", "false", "data", *(["wrapper", "part"] if false else []), *(["same"] if data else [])]
        kind = draw(st.sampled_from(kinds))
        text = {
            "true": f"theorem {name} : 1 = 1 := by sorry",
            "false": f"theorem {name} : 1 = 2 := by sorry",
            "data": f"def {name} : Nat := sorry",
            "wrapper": f"theorem {name} : 1 = 2 := {draw(st.sampled_from(false)) if false else ''}",
            "part": f"theorem {name} : 1 = 1 ∧ 1 = 2 := ⟨by sorry, by sorry⟩",
            "same": f"theorem {name} : {' = '.join(draw(st.sampled_from(data)) for _ in range(2)) if data else ''} := "
            "by sorry",
        }[kind]
        lines.append(draw(st.sampled_from([text, f"namespace N\n{text}\nend N", text])))
        full = f"N.{name}" if lines[-1].startswith("namespace") else name
        false += [full] if kind in ("false", "wrapper") else []
        data += [full] if kind == "data" else []
    return "\n".join(lines)


def test_a_condition_without_a_place_is_told_in_words() -> None:
    rest = Rest((OpenPlace("bad", "A.lean", 3), OpenPlace(UNKNOWN_PLACE, "", 0)))
    assert rest.condition("A.lean") == f"if `bad` (line 3) and {UNKNOWN_PLACE} hold"


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=files())
def test_what_is_called_proved_rests_on_nothing(session: LeanSession, text: str) -> None:
    tactics = ["rfl", *(f"exact {prefix}{name}" for name in NAMES for prefix in ("", "N."))]
    prover = InteractiveProver(Prover(saying(*tactics), SearchConfig(finishers=()), ProverOptions()), 2, None, 0)
    filler = SorryFiller(LeanFile.parse(text), session)
    complete = prover.fill(filler, session)
    written = filler.settled
    proved = {gap for gap, _ in written.filled}
    assert not proved & filler.conditional.keys()
    assert all(rest.places for rest in filler.conditional.values()), "each condition has a name and a place"
    env = run(written.proved()).state.env
    for gap in written.gaps:
        others = [other for other in written.gaps if other.name == gap.name]
        if gap in proved and all(other in proved for other in others):
            name = gap.name if gap.name in env else f"N.{gap.name}"
            assert axioms_of(env, name) <= {"propext", "Classical.choice", "Quot.sound"}, written.proved()
    can_be = [gap for gap in written.gaps if "theorem" in text.split("\n")[gap.line - 1] and not gap.skip_reason]
    true = [gap for gap in can_be if "1 = 1 := by sorry" in text.split("\n")[gap.line - 1]]
    assert set(true) <= proved, "what holds by itself is proved whatever else is open"
    assert complete == (proved == set(written.gaps) and "sorry" not in written.proved() and _is_clean(text))


def _is_clean(text: str) -> bool:
    return "1 = 2" not in text and "def" not in text

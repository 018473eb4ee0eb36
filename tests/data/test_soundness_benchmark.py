"""The proof of one theorem of the benchmark is no proof of another."""

from functools import cache
from itertools import permutations

from nanolean.kernel.budget import KernelError
from nanolean.kernel.declaration import TheoremInfo
from nanolean.kernel.env import TheoremDecl
from nanolean.kernel.typecheck import TypeChecker
from nanolean.ndjson.import_ndjson import check_export
from nanolean.tests.export_validator import validate
from nanolean.tests.library import base, run
from nanolean.tests.test_export_ndjson import export_of
from nanoproof.common.files import read_jsonl
from nanoproof.common.run_dir import REPO_ROOT
from nanoproof.data.nanolean import list_theorems
from nanoproof.lean.declarations import declared_names
from nanoproof.lean.source import splice

PROOFS = REPO_ROOT / "tests" / "data" / "benchmark_proofs.jsonl"
COUNT, STEPS = 12, 50_000


@cache
def proved() -> list[TheoremInfo]:
    """Some theorems of the benchmark with the terms of their proofs, spread over its families."""
    sources = {theorem.id: theorem.source for theorem in list_theorems("valid")}
    proofs = list(read_jsonl(PROOFS))
    proofs = sorted((entry for entry in proofs if entry["name"] in sources), key=lambda entry: entry["name"])
    found = []
    for entry in proofs[:: len(proofs) // COUNT][:COUNT]:
        text = splice(sources[entry["name"]], entry["proof"])
        result = run(text)
        info = result.state.env[declared_names(text)[-1]]
        assert not result.has_errors and isinstance(info, TheoremInfo)
        found.append(info)
    return found


def test_the_proof_of_one_theorem_is_refused_for_every_other() -> None:
    theorems = proved()
    env = base().env
    assert len(theorems) == COUNT
    for claim, other in permutations(theorems, 2):
        levels = tuple(dict.fromkeys((*claim.level_params, *other.level_params)))
        try:
            env.add(TheoremDecl("boom", levels, claim.type, other.value), budget=STEPS)
        except KernelError:
            continue
        assert TypeChecker(env).is_def_eq(claim.type, other.type), f"{other.name} proves {claim.name}"


def test_each_proof_is_accepted_for_its_own_theorem() -> None:
    for info in proved():
        assert "boom" in base().env.add(TheoremDecl("boom", info.level_params, info.type, info.value))


def test_proofs_of_the_benchmark_are_in_the_format_and_are_accepted():
    written = {row["name"]: row["proof"] for row in read_jsonl(PROOFS)}
    for theorem in [*list_theorems("valid"), *list_theorems("test")][::25]:
        lines = export_of(splice(theorem, written[theorem.id]))
        assert theorem.id in validate(lines)
        verdict = check_export(lines)
        assert (verdict.outcome, verdict.reason) == ("accepted", "")

"""What is here and what is not, on one page, each with the command that mends it.

python -m nanoproof.doctor
python -m nanoproof.doctor --for rl eval --datasets leanworkbook minif2f --lean-servers host:8000 --lean-project DIR

Nothing is changed and nothing is downloaded. Exit code 1 if something is missing that a stage of --for needs, else 0.
"""

import json
import textwrap
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

from nanoproof.common.torch_command import run_main

from nanoproof.actors.fleet import EVAL_DATA, RL_DATA, real_data
from nanoproof.common.config import Parser, add_flags, change, check, from_args, group, opt, validate
from nanoproof.common.option_groups import LeanOptions
from nanoproof.common.run_dir import home
from nanoproof.common.terminal import Paint, print_lines, width
from nanoproof.data.sources.catalog import CATALOG
from nanoproof.doctor.report import Asked, CheckPlace, Finding, missing_for, run_check, to_json

AT_ONCE = 3
CHECKS = "nanoproof.doctor.checks"
SECTIONS: dict[str, tuple[CheckPlace, ...]] = {
    "Machine": (
        CheckPlace(f"{CHECKS}:python", ("python", "code")),
        CheckPlace(f"{CHECKS}:packages", ("packages",)),
        CheckPlace(f"{CHECKS}:resources", ("cores", "memory", "disk")),
        CheckPlace(f"{CHECKS}:compute", ("torch",)),
    ),
    "Home": (
        CheckPlace(f"{CHECKS}:tokenizer", ("tokenizer",)),
        CheckPlace(f"{CHECKS}:checkpoints", ("checkpoints",)),
        CheckPlace(f"{CHECKS}:hub", ("hub",)),
        CheckPlace(f"{CHECKS}:data_sets", ("data sets",)),
    ),
    "Lean": (
        CheckPlace(f"{CHECKS}:embedded", ("nanolean",)),
        CheckPlace(f"{CHECKS}:servers", ("lean servers",)),
        CheckPlace(f"{CHECKS}:project", ("lean project",)),
        CheckPlace(f"{CHECKS}:dashboard", ("dashboard",)),
    ),
}


@dataclass(frozen=True)
class Stage:
    """What a stage needs beside the machine: one of the keys of each tuple. `datasets` are its own defaults, `of_lean`
    those that follow servers with real Lean."""

    needs: tuple[tuple[str, ...], ...]
    datasets: tuple[str, ...]
    proves: bool = False
    of_lean: tuple[str, ...] = ()


EVERY_STAGE = (("python",), ("packages",), ("disk",), ("torch",), ("device",))
STAGES = {
    "pretrain": Stage((("tokenizer",),), ("nemotron",)),
    "midtrain": Stage((("checkpoints",),), ("leangithubraw",)),
    "sft": Stage((("tokenizer", "checkpoints"),), ("nanolean",)),
    "rl": Stage((("checkpoints",),), ("nanolean",), proves=True, of_lean=real_data(RL_DATA)),
    "eval": Stage((("checkpoints",),), ("nanolean",), proves=True, of_lean=real_data(EVAL_DATA)),
}
"""With text that is not a data set (`--data FILE`), name nanolean: it can always be made."""


@dataclass(frozen=True)
class DoctorOptions:
    """What to look at."""

    stages: tuple[str, ...] = opt(
        (), "Stages that are to run; exit code 1 if one of them lacks something.", choices=tuple(STAGES)
    )
    datasets: tuple[str, ...] = opt((), "Data sets that the stages of --for are to use; default: each stage's own.")
    lean: LeanOptions = group(
        LeanOptions,
        "lean-",
        servers=change(help="Addresses host:port to ask."),
        project=change(help="Folder of a Lean project; default LEAN_PROJECT_PATH.", advanced=False),
    )
    timeout: float = opt(60.0, "Seconds that each check may take.", above=0)
    json: bool = opt(False, "Print one JSON object instead of the page.")

    def __post_init__(self) -> None:
        validate(self, "doctor")
        check(not self.datasets or bool(self.stages), "--datasets says what the stages of --for are to use; give --for")
        unknown = [name for name in self.asked.datasets if name not in CATALOG]
        check(not unknown, f"unknown data set {', '.join(unknown)}; there are: {', '.join(CATALOG)}")

    @property
    def asked(self) -> Asked:
        """What the checks hear of it."""
        names = tuple(name for value in self.datasets for name in value.replace(",", " ").split())
        return Asked(self.lean.servers, self.lean.token, self.lean.project, names)


def needs_of(stage: str, asked: Asked) -> list[tuple[str, ...]]:
    """What a stage needs, as keys of findings; any of a tuple will do."""
    names = asked.datasets or STAGES[stage].datasets
    if STAGES[stage].of_lean and not asked.datasets and run_real_lean(asked.lean_servers, asked.lean_token):
        names = STAGES[stage].of_lean
    needs = [*EVERY_STAGE, *STAGES[stage].needs, *((f"data {name}",) for name in names)]
    if STAGES[stage].proves:
        embedded = not asked.lean_servers and set(names) <= {"nanolean"}
        needs.append(("nanolean",) if embedded else ("lean servers",))
    if asked.lean_project and STAGES[stage].proves:
        needs.append(("lean project",))
    return needs


@cache
def run_real_lean(servers: tuple[str, ...], token: str | None) -> bool:
    """Whether there are servers and all answer and run real Lean; what is wrong with them is told elsewhere."""
    try:
        from nanoproof.lean.client import LeanFleet, runs_nanolean

        reports = LeanFleet(servers, token).statuses() if servers else []
    except Exception:
        return False
    return bool(reports) and all(report.status is not None and not runs_nanolean(report.status) for report in reports)


def look(options: DoctorOptions) -> Iterator[tuple[str, list[Finding]]]:
    """The findings of each section, as soon as they are there."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        running: dict[str, list[Future[list[Finding]]]] = {
            title: [pool.submit(run_check, place, options.asked, options.timeout) for place in places]
            for title, places in SECTIONS.items()
        }
        for title, futures in running.items():
            yield title, [finding for future in futures for finding in future.result()]


def page(options: DoctorOptions, found: list[Finding], paint: Paint) -> Iterator[str]:
    """The page, section by section; puts the findings into `found`."""
    yield f"nanoproof doctor, home {home()}"
    for title, findings in look(options):
        yield "\n" + paint(title, "bold")
        needed = {key for stage in options.stages for keys in needs_of(stage, options.asked) for key in keys}
        for finding in findings:
            yield from entry(finding, finding.key in needed, paint)
        found += findings
    if options.stages:
        yield "\n" + paint("Stages", "bold")
    for stage, missing in verdicts(options, found).items():
        yield verdict(stage, missing, paint)


def entry(finding: Finding, needed: bool, paint: Paint) -> Iterator[str]:
    """The lines of a finding: a sign and a word, what it is about, what was seen, and below it what mends it."""
    lacking = finding.state == "absent" and needed and not finding.suffices
    sign, word, color = {"ok": ("✓", "ok", "green"), "absent": ("–", "absent", "yellow")}.get(
        finding.state, ("✗", "broken", "red")
    )
    if lacking:
        sign, word, color = "✗", "missing", "red"
    lead = f"  {paint(f'{sign} {word:<8}', color)}{finding.key:<21}"
    margin = " " * 33
    lines = textwrap.wrap(finding.text, max(40, width() - len(margin)), break_long_words=False, break_on_hyphens=False)
    yield lead + (lines[0] if lines else "")
    yield from (margin + line for line in lines[1:])
    if finding.fix:
        yield margin + paint(f"→ {finding.fix}", "cyan")


def verdicts(options: DoctorOptions, findings: Sequence[Finding]) -> dict[str, list[str]]:
    """What each stage of --for lacks."""
    return {stage: missing_for(needs_of(stage, options.asked), findings) for stage in options.stages}


def verdict(stage: str, missing: Sequence[str], paint: Paint) -> str:
    """A stage's line."""
    if missing:
        return f"  {paint('✗ missing', 'red')} {stage:<21}{', '.join(missing)}"
    return f"  {paint('✓ ok     ', 'green')} {stage:<21}can start"


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    parser = Parser(prog="python -m nanoproof.doctor", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--for",
        dest="stages",
        nargs="+",
        default=[],
        choices=tuple(STAGES),
        help="Stages that are to run; exit code 1 if one of them lacks something.",
    )
    add_flags(parser, DoctorOptions, skip={"stages"})
    options = from_args(DoctorOptions, parser.parse_args(argv))
    found: list[Finding] = []
    if options.json:
        found = [finding for _, findings in look(options) for finding in findings]
        lacks = verdicts(options, found)
        report = {"home": str(home()), "findings": [to_json(finding) for finding in found], "missing": lacks}
        print_lines([json.dumps(report, ensure_ascii=False, indent=2)])
    else:
        print_lines(page(options, found, Paint()))
    return 1 if any(verdicts(options, found).values()) else 0


if __name__ == "__main__":
    run_main(main)

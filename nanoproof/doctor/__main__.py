"""Check the machine, the home directory and Lean, and name the command that repairs each problem.

python -m nanoproof.doctor
python -m nanoproof.doctor --for rl eval --datasets leanworkbook minif2f --lean-servers host:8000 --lean-project DIR

Nothing is downloaded, and nothing is written but caches. Exit code 1 if something is missing that a stage of --for
needs, else 0.
"""

import json
import textwrap
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache

from nanoproof.common.config import Parser, add_flags, change, check, from_args, group, opt, validated
from nanoproof.common.errors import run_main
from nanoproof.common.option_groups import LeanOptions
from nanoproof.common.run_dir import home
from nanoproof.common.terminal import Paint, print_lines, width
from nanoproof.data.sources.catalog import CATALOG, EVAL_DATA, RL_DATA, real_data
from nanoproof.doctor.report import CheckInputs, CheckRef, Finding, missing_for, run_check

MAX_PARALLEL_CHECKS = 3
"""Each imports what it checks, torch at worst, which on a small machine takes memory and both cores."""
CHECKS = "nanoproof.doctor.checks"
SECTIONS: dict[str, tuple[CheckRef, ...]] = {
    "Machine": (
        CheckRef(f"{CHECKS}:python", ("python", "code")),
        CheckRef(f"{CHECKS}:packages", ("packages",)),
        CheckRef(f"{CHECKS}:resources", ("cores", "memory", "disk")),
        CheckRef(f"{CHECKS}:compute", ("torch",)),
    ),
    "Home": (
        CheckRef(f"{CHECKS}:tokenizer", ("tokenizer",)),
        CheckRef(f"{CHECKS}:checkpoints", ("checkpoints",)),
        CheckRef(f"{CHECKS}:hub", ("hub",)),
        CheckRef(f"{CHECKS}:data_sets", ("data sets",)),
    ),
    "Lean": (
        CheckRef(f"{CHECKS}:embedded", ("nanolean",)),
        CheckRef(f"{CHECKS}:servers", ("lean servers",)),
        CheckRef(f"{CHECKS}:project", ("lean project",)),
        CheckRef(f"{CHECKS}:dashboard", ("dashboard",)),
    ),
}


@dataclass(frozen=True)
class Stage:
    """What a stage needs beside the machine: one key of each tuple in `needs`.

    `datasets` are its default data sets, `lean_datasets` the defaults when all servers run real Lean.
    """

    needs: tuple[tuple[str, ...], ...]
    datasets: tuple[str, ...]
    proves: bool = False
    lean_datasets: tuple[str, ...] = ()


COMMON_NEEDS = (("python",), ("packages",), ("disk",), ("torch",), ("device",))
STAGES = {
    "pretrain": Stage((("tokenizer",),), ("nemotron",)),
    "midtrain": Stage((("checkpoints",),), ("leangithubraw",)),
    "sft": Stage((("tokenizer", "checkpoints"),), ("nanolean",)),
    "rl": Stage((("checkpoints",),), ("nanolean",), proves=True, lean_datasets=real_data(RL_DATA)),
    "eval": Stage((("checkpoints",),), ("nanolean",), proves=True, lean_datasets=real_data(EVAL_DATA)),
}
"""With text that is not a data set (`--data FILE`), name nanolean: it can always be made."""


@validated("doctor")
class DoctorOptions:
    """Options of the command."""

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
    device_type: str | None = opt(
        None,
        "Device that the stages of --for are to compute on; default: the best there is.",
        choices=("cuda", "cpu", "mps"),
    )
    timeout: float = opt(60.0, "Seconds that each check may take.", above=0)
    json: bool = opt(False, "Print one JSON object instead of the page.")

    def __post_init__(self) -> None:
        check(not self.datasets or bool(self.stages), "--datasets says what the stages of --for are to use; give --for")
        unknown = [name for name in self.inputs.datasets if name not in CATALOG]
        check(not unknown, f"unknown data set {', '.join(unknown)}; there are: {', '.join(CATALOG)}")

    @property
    def inputs(self) -> CheckInputs:
        """The options that the checks receive."""
        names = " ".join(self.datasets).replace(",", " ").split()
        return CheckInputs(self.lean.servers, self.lean.token, self.lean.project, tuple(names), self.device_type or "")


def stage_needs(stage: str, inputs: CheckInputs) -> list[tuple[str, ...]]:
    """List what a stage needs, as keys of findings; any key of a tuple will do."""
    asked = STAGES[stage]
    names = inputs.datasets or asked.datasets
    # As `follow_lean` of the commands themselves: only a stage that has other defaults for real Lean asks the servers.
    if asked.lean_datasets and not inputs.datasets and servers_run_real_lean(inputs.lean_servers, inputs.lean_token):
        names = asked.lean_datasets
    needs = [*COMMON_NEEDS, *asked.needs]
    for name in names:
        needs.append((f"data {name}",))
    if not asked.proves:
        return needs
    # Without servers the embedded prover starts, which knows no theorems of Mathlib.
    if not inputs.lean_servers and set(names) <= {"nanolean"}:
        needs.append(("nanolean",))
    else:
        needs.append(("lean servers",))
    if inputs.lean_project:
        needs.append(("lean project",))
    return needs


@cache
def servers_run_real_lean(servers: tuple[str, ...], token: str | None) -> bool:
    """Return whether there are servers and all of them answer and run real Lean; errors count as no."""
    if not servers:
        return False
    try:
        from nanoproof.lean.client import LeanFleet, runs_nanolean

        reports = LeanFleet(servers, token).statuses()
    except Exception:  # the check of the servers reports it
        return False
    for report in reports:
        if report.status is None or runs_nanolean(report.status):
            return False
    return bool(reports)


def run_checks(options: DoctorOptions) -> Iterator[tuple[str, list[Finding]]]:
    """Run all checks in parallel; yield each section's title and findings as soon as they are complete."""
    with ThreadPoolExecutor(MAX_PARALLEL_CHECKS) as pool:
        # All are begun before the first section is waited for.
        running: dict[str, list[Future[list[Finding]]]] = {}
        for title, refs in SECTIONS.items():
            running[title] = [pool.submit(run_check, ref, options.inputs, options.timeout) for ref in refs]
        for title, futures in running.items():
            findings: list[Finding] = []
            for future in futures:
                findings += future.result()
            yield title, findings


def render_page(options: DoctorOptions, all_findings: list[Finding], paint: Paint) -> Iterator[str]:
    """Render the page section by section; appends the findings to `all_findings`."""
    yield f"nanoproof doctor, home {home()}"
    for title, findings in run_checks(options):
        yield "\n" + paint(title, "bold")
        # Here and not before: what stages need may depend on the servers, and asking these takes time.
        needed: set[str] = set()
        for stage in options.stages:
            needed.update(*stage_needs(stage, options.inputs))
        for finding in findings:
            yield from render_finding(finding, finding.key in needed, paint)
        all_findings += findings
    if options.stages:
        yield "\n" + paint("Stages", "bold")
    for stage, missing in missing_by_stage(options, all_findings).items():
        yield render_stage(stage, missing, paint)


def render_finding(finding: Finding, needed: bool, paint: Paint) -> Iterator[str]:
    """Render a finding: sign and state, key, what was seen, and below it the command that repairs it."""
    # What is absent is no fault by itself; where a stage of --for needs it, it is.
    lacking = finding.state == "absent" and needed and not finding.suffices
    sign, word, color = {"ok": ("✓", "ok", "green"), "absent": ("–", "absent", "yellow")}.get(
        finding.state, ("✗", "broken", "red")
    )
    if lacking:
        sign, word, color = "✗", "missing", "red"
    lead = f"  {paint(f'{sign} {word:<8}', color)}{finding.key:<21}"
    margin = " " * 33
    lines = textwrap.wrap(finding.text, max(40, width() - len(margin)), break_long_words=False, break_on_hyphens=False)
    yield lead + "".join(lines[:1])
    for line in lines[1:]:
        yield margin + line
    if finding.fix:
        yield margin + paint(f"→ {finding.fix}", "cyan")


def missing_by_stage(options: DoctorOptions, findings: Sequence[Finding]) -> dict[str, list[str]]:
    """Return what each stage of --for lacks."""
    return {stage: missing_for(stage_needs(stage, options.inputs), findings) for stage in options.stages}


def render_stage(stage: str, missing: Sequence[str], paint: Paint) -> str:
    """Render a stage's line."""
    if missing:
        return f"  {paint('✗ missing', 'red')} {stage:<21}{', '.join(missing)}"
    return f"  {paint('✓ ok     ', 'green')} {stage:<21}can start"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the checks; return 1 if a stage of --for lacks something, else 0."""
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
    all_findings: list[Finding] = []
    if options.json:
        for _, findings in run_checks(options):
            all_findings += findings
        missing = missing_by_stage(options, all_findings)
        report = {"home": str(home()), "findings": list(map(asdict, all_findings)), "missing": missing}
        print_lines([json.dumps(report, ensure_ascii=False, indent=2)])
    else:
        print_lines(render_page(options, all_findings, Paint()))
    return int(any(missing_by_stage(options, all_findings).values()))


if __name__ == "__main__":
    run_main(main)

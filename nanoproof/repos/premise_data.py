"""What premise retrieval reads: premises of exports, traces, the store and NanoLean, and how tactics use them.

raid/data/merged       a folder as `python -m nanoproof.repos export` or LeanDojo write it
repo:NAME              what was traced of a repository
store:NAME             a repository of the store
nanolean               the library of the embedded prover: premises alone
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanoproof.common.errors import UserError
from nanoproof.common.files import json_items, read_object
from nanoproof.common.run_dir import repo_name, trace_folder
from nanoproof.data.nanolean import held_out_library
from nanoproof.repos import leandojo
from nanoproof.repos.leandojo import ShapeError
from nanoproof.repos.project import Project, nanolean_library
from nanoproof.repos.splits import SPLITS, STRATEGIES, HoldOut, Split, StableSplits, exported_tactics
from nanoproof.repos.store import Store, default_path
from nanoproof.repos.trace import read_trace
from nanoproof.repos.traced_files import TracedFile, TracedTheorem
from nanoproof.retrieval.corpus import Corpus, Query, queries

if TYPE_CHECKING:
    from nanoproof.retrieval.training import RetrievalData

LIBRARY = "nanolean"
STORE_PREFIX = "store:"


@dataclass(frozen=True)
class RetrievalSource:
    """A corpus, with the theorems of each split and strategy where it has any."""

    name: str
    corpus: Corpus
    theorems: dict[tuple[str, Split], list[TracedTheorem]]
    origin: tuple[str, str] = ("", "")

    def queries(self, strategy: str, split: Split) -> list[Query]:
        """Return the tactics of a split that name a premise. Raises UserError if the source has no theorems."""
        if not self.theorems:
            raise UserError(f"{self.name} holds premises and no proofs: name an export, repo:NAME or store:NAME")
        return queries(self.corpus, self.theorems.get((strategy, split), ()), self.origin)[0]

    def data(self, strategy: str) -> "RetrievalData":
        """Return what is trained on and validated."""
        from nanoproof.retrieval.training import RetrievalData  # it needs torch, which other commands do not

        return RetrievalData(self.corpus, self.queries(strategy, "train"), self.queries(strategy, "val"), self.name)


def read_source(spec: str) -> RetrievalSource:
    """Read what a SPEC names. Raises UserError for what is not there or damaged."""
    if spec == LIBRARY:
        return RetrievalSource(spec, Corpus(library_files()), {})
    if (name := repo_name(spec)) is not None:
        files = list(read_trace(trace_folder(name)))
        theorems: list[TracedTheorem] = []
        for file in files:
            theorems += file.theorems
        return _split(spec, files, theorems, None)
    if spec.startswith(STORE_PREFIX):
        return _stored(spec)
    folder = Path(spec).expanduser()
    if leandojo.is_data_set(folder) and (folder / leandojo.CORPUS).is_file():
        return _exported(folder)
    raise UserError(
        f"--data {spec}: expected a folder of `python -m nanoproof.repos export` (with {leandojo.CORPUS}), repo:NAME, "
        f"{STORE_PREFIX}NAME or {LIBRARY}"
    )


def library_files() -> list[TracedFile]:
    """Return the files of NanoLean's library with their premises, but for those that `nanolean-hard` asks for: their
    names would prove them. Raises UserError without NanoLean.
    """
    folder = nanolean_library()
    if folder is None:
        raise UserError(f"{LIBRARY}: NanoLean is not installed")
    held_out = held_out_library()
    files = []
    for file in folder_files(folder):
        premises = [premise for premise in file.premises if premise.full_name not in held_out]
        files.append(replace(file, premises=tuple(premises)))
    return files


def folder_files(root: Path) -> list[TracedFile]:
    """Return the files of a project with their premises, as tracing them would give, without any elaboration.

    Raises UserError as `Project.read` does.
    """
    project = Project.read(root)
    return [TracedFile(file.path, project.import_paths(file), file.premises(), ()) for file in project.files]


def _split(
    name: str, files: Iterable[TracedFile], theorems: Sequence[TracedTheorem], held_out: HoldOut | None
) -> RetrievalSource:
    """Make a source whose theorems are split as an export would split them."""
    splits = StableSplits(held_out or HoldOut.choose(theorems))
    by_split: dict[tuple[str, Split], list[TracedTheorem]] = {}
    for strategy in STRATEGIES:
        for split in SPLITS:
            by_split[strategy, split] = []
    for theorem in theorems:
        # As a reader of the export would have it, so that both give the same queries.
        exported = replace(theorem, tactics=tuple(exported_tactics(theorem)), rests_on=())
        for strategy, split in zip(STRATEGIES, splits.assign(theorem), strict=True):
            by_split[strategy, split].append(exported)
    return RetrievalSource(name, Corpus(files), by_split)


def _stored(spec: str) -> RetrievalSource:
    if not default_path().exists():
        raise UserError(f"--data {spec}: there is no store yet (python -m nanoproof.repos add)")
    with Store() as store:
        repository = store.repository(spec.removeprefix(STORE_PREFIX))
        kept = store.setting(leandojo.HELD_OUT)
        files = list(store.files(repository, theorems=False))
        theorems = [stored.theorem for stored in store.theorems(repository)]
    # The premises that an export has held out: a retriever must not be trained on theorems that are its test set.
    held_out = HoldOut.parse(kept) if kept else None
    return replace(_split(spec, files, theorems, held_out), origin=(repository.url, repository.commit))


def _exported(folder: Path) -> RetrievalSource:
    by_split: dict[tuple[str, Split], list[TracedTheorem]] = {}
    for strategy in STRATEGIES:
        for split in SPLITS:
            path = folder / strategy / f"{split}.json"
            if path.is_file():
                by_split[strategy, split] = list(_theorems(path))
    about: Any = None
    if (folder / leandojo.METADATA).is_file():
        about = (read_object(folder / leandojo.METADATA) or {}).get("from_repo")
    if not isinstance(about, dict):
        about = {}
    origin = (str(about.get("url", "")), str(about.get("commit", "")))
    corpus = Corpus(leandojo.read_corpus(folder / leandojo.CORPUS))
    return RetrievalSource(str(folder), corpus, by_split, origin)


def _theorems(path: Path) -> Iterator[TracedTheorem]:
    for number, record in enumerate(json_items(path)):
        try:
            yield leandojo.read_theorem(record)
        except ShapeError as error:
            raise UserError(f"{path}, theorem {number}: {error}") from None

"""Certificates: proofs with all that they rest on, in files that Lean's external checkers read, written and checked.

`export --format ndjson` writes them, `check --format ndjson` has our kernel read them into a fresh environment, and
`compare` tells whether the certificates of a folder are of the theorems in the `.lean` files beside them.
"""

import gzip
import json
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanolean.commands.runner import run_text
from nanolean.env_state import EnvState
from nanolean.kernel.budget import KernelError
from nanolean.kernel.declaration import ConstantInfo, InductiveInfo, TheoremDecl, ValueInfo
from nanolean.kernel.env import Environment
from nanolean.kernel.expr import alpha_eq
from nanolean.library.loader import at_root, load_library
from nanolean.library.texts import plural
from nanolean.ndjson.export_ndjson import closure, lines_of
from nanolean.ndjson.import_ndjson import PERMITTED, Checked, Outcome, Verdict, check_export
from nanolean.ndjson.ndjson_rows import MAX_LINE, Declined, Refused
from nanolean.system import UserError, atomic_write, freeze_gc
from nanolean.tools.check import read_text

SORRY = "sorryAx"
PLAIN, PACKED = ".ndjson", ".ndjson.gz"
PACKED_FROM = 1_000_000
"""Bytes from which on a certificate is compressed."""
MAX_UNPACKED = 1 << 30
"""Bytes of a compressed file that are read."""
EXIT_CODES: dict[Outcome, int] = {"accepted": 0, "refused": 1, "declined": 3}


# -- writing


def export_ndjson(sources: Sequence[str], library: bool, out: Path | None, seconds: float | None) -> int:
    """Write library constants by name, the declarations of files, or the whole library to one file `out`.

    Instead of these, one folder: each of its `.lean` files gets a certificate beside it, or in `out`; none is begun
    after so many `seconds`. Raises UserError for what cannot be exported.
    """
    folders = [source for source in sources if Path(source).is_dir()]
    if folders:
        if len(sources) > 1 or library:
            raise UserError(f"{folders[0]} is a folder, which is exported alone: a certificate for each of its files")
        return export_folder(Path(folders[0]), out, seconds)
    if out is None:
        raise UserError("-o OUT.ndjson says where to write")
    base = load_library(distrust=True)
    state, names = base, [name for name in base.env.names() if library and name != SORRY]
    for source in sources:
        if source.endswith(".lean"):
            state, new = declared(state, Path(source))
            names += new
        elif source in base.env:
            names.append(source)
        else:
            raise UserError(f"{source} is neither a constant of the library, nor a .lean file or a folder")
    if not names:
        raise UserError("name theorems of the library, .lean files or a folder, or give --library")
    made = certificate(state.env, names, "the export")
    write(out, gzip.compress(made.data, mtime=0) if out.suffix == ".gz" else made.data)
    print(f"wrote {out}: {made.summary}")
    return 0


def export_folder(folder: Path, out: Path | None, seconds: float | None) -> int:
    """Write a certificate for each `.lean` file of a folder, and what came of it; 1 if one is missing."""
    base, began = load_library(), time.monotonic()
    freeze_gc()
    files = lean_files(folder)
    written = late = 0
    for file in files:
        target = file if out is None else out / file.relative_to(folder)
        for suffix in (PLAIN, PACKED):
            target.with_suffix(suffix).unlink(missing_ok=True)
        if seconds is not None and time.monotonic() - began >= seconds:
            late += 1
            continue
        try:
            state, names = declared(base, file)
            made = certificate(state.env, names, str(file))
            write_certificate(target, made.data)
        except UserError as error:
            print(f"not exported: {error}")
            continue
        written += 1
        if made.foreign:
            print(f"{file}: {made.summary}")
    print(f"{written} of {plural(len(files), 'certificate')} written{f'; no time for {late}' if late else ''}")
    return 0 if written == len(files) else 1


def declared(state: EnvState, file: Path) -> tuple[EnvState, list[str]]:
    """Run a file; return its state and the names that it adds, auxiliary ones too. UserError if not all of it is
    proved.

    Examples are theorems `_example`, `_example_2`, ..., as they have no names of their own.
    """
    result = run_text(state, read_text(file), header=True)
    if result.has_errors or result.sorries:
        raise UserError(f"{file} has errors or `sorry`; see `check {file}`")
    env = result.state.env
    for number, example in enumerate(result.examples):
        name = f"_example_{number + 1}" if number else "_example"
        try:
            env = env.add(TheoremDecl(name, example.level_params, example.type, example.value))
        except KernelError:
            continue  # it is no proof but a value
    names = [name for name in env.names() if name not in state.env]
    if not names:
        raise UserError(f"{file} declares nothing")
    return at_root(result.state.with_env(env)), names


@dataclass(frozen=True)
class Certificate:
    """The content of a file, how many constants it holds, and those axioms among them that checkers do not permit."""

    data: bytes
    num_constants: int
    foreign: tuple[str, ...]

    @property
    def summary(self) -> str:
        """What there is to say about it."""
        axioms = f"; checkers refuse its axioms {', '.join(self.foreign)}" if self.foreign else ""
        return f"{plural(self.num_constants, 'constant')}{axioms}"


def certificate(env: Environment, names: Iterable[str], what: str) -> Certificate:
    """Make the certificate of some constants; UserError if it would rest on `sorry`."""
    infos = closure(env, names)
    axioms = [info.name for info in infos if info.kind == "axiom"]
    if SORRY in axioms:
        raise UserError(f"{what} rests on `sorry`")
    data = "".join(f"{line}\n" for line in lines_of(env, infos)).encode()
    return Certificate(data, len(infos), tuple(axiom for axiom in axioms if axiom not in PERMITTED))


def lean_files(folder: Path) -> list[Path]:
    """List the `.lean` files of a folder, in order; UserError if there is none."""
    files = [path for path in sorted(folder.rglob("*.lean")) if path.is_file()]
    if not files:
        raise UserError(f"{folder} holds no .lean file")
    return files


def certificate_of(file: Path) -> Path | None:
    """Return the certificate beside a `.lean` file; None if there is none."""
    found = [path for suffix in (PLAIN, PACKED) if (path := file.with_suffix(suffix)).is_file()]
    return found[0] if found else None


def write_certificate(file: Path, data: bytes) -> None:
    """Put the certificate of a `.lean` file beside where that is, compressed if it is large."""
    large = len(data) >= PACKED_FROM
    write(file.with_suffix(PACKED if large else PLAIN), gzip.compress(data, mtime=0) if large else data)


def write(path: Path, data: bytes) -> None:
    """Write a file; UserError if that does not work."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, data, sync=False)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None


# -- reading


@dataclass(frozen=True)
class ExportReport:
    """What our kernel says of a file."""

    file: Path
    verdict: Verdict

    @property
    def counts(self) -> dict[str, int]:
        """How many declarations of each kind were checked; constructors and recursors go with their type."""
        kinds = [info.kind for info in self.verdict.env]
        return {kind: kinds.count(kind) for kind in ("theorem", "def", "opaque", "inductive", "axiom", "quot")}

    def as_json(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        verdict = self.verdict
        axioms = sorted(info.name for info in verdict.env if info.kind == "axiom")
        found = {"file": str(self.file), "outcome": verdict.outcome, "reason": verdict.reason, "line": verdict.line}
        return {**found, "counts": self.counts, "axioms": axioms, "left_out": list(verdict.left_out)}

    def __str__(self) -> str:
        verdict = self.verdict
        if verdict.outcome != "accepted":
            return f"{self.file}: {verdict.outcome}: line {verdict.line}: {verdict.reason}"
        kinds = {kind: count for kind, count in self.counts.items() if count and kind != "quot"}
        counts = ", ".join(plural(count, kind) for kind, count in kinds.items()) or "no declarations"
        axioms = ", ".join(self.as_json()["axioms"]) or "none"
        left_out = f"; left out, as nothing may use them: {', '.join(verdict.left_out)}" if verdict.left_out else ""
        return f"{self.file}: accepted: {counts}; axioms: {axioms}{left_out}"


def check_exports(files: Sequence[Path], permitted: Sequence[str] | None, as_json: bool) -> int:
    """Check export files, each in a fresh environment; 0 if all are accepted, 1 if one is refused, else 3."""
    reports = []
    for file in files:
        report = ExportReport(file, check_export(export_file_lines(file), permitted))
        reports.append(report)
        if not as_json:
            print(report, flush=True)
    codes = {EXIT_CODES[report.verdict.outcome] for report in reports}
    if as_json:
        print(json.dumps({"ok": codes == {0}, "files": [report.as_json() for report in reports]}, ensure_ascii=False))
    return 1 if 1 in codes else max(codes)


def export_file_lines(file: Path) -> Iterator[str]:
    """Yield the lines of an export file; Refused or Declined for one that cannot be unpacked or is no text.

    Raises UserError if there is no such file.
    """
    if not file.is_file():
        raise UserError(f"cannot read {file}: no such file")
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as stream:
            size = 0
            while line := stream.readline(MAX_LINE + 1):
                size += len(line)
                if size > MAX_UNPACKED and file.suffix == ".gz":
                    raise Declined(f"more than {MAX_UNPACKED} bytes in a compressed file")
                yield line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(f"not UTF-8: {error}") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise Refused(f"not a whole gzip file: {error}") from None
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None


# -- comparing


def compare(folder: Path, as_json: bool) -> int:
    """Check that the certificates of a folder are of the theorems in the files beside them; 1 if one is not."""
    base, checked = load_library(distrust=True), Checked()
    freeze_gc()
    files = lean_files(folder)
    reasons = {str(file): difference(base, file, checked)[0] for file in files}
    for path in sorted(folder.rglob("*.ndjson*")):
        if not path.with_name(path.name.removesuffix(".gz")).with_suffix(".lean").exists():
            reasons[str(path)] = "there is no .lean file beside it"
    different = {file: reason for file, reason in reasons.items() if reason}
    if as_json:
        print(json.dumps({"files": len(files), "different": different}, ensure_ascii=False))
    else:
        for file, reason in different.items():
            print(f"{file}: {reason}")
        print(f"{len(files) - len(different)} of {plural(len(files), 'certificate')} say what the files say")
    return 1 if different else 0


def difference(base: EnvState, file: Path, checked: Checked) -> tuple[str, Verdict | None]:
    """Return why the certificate beside a file is none of its theorems, empty if it is, and what our kernel says of it.

    `checked` is what certificates before it have declared, and grows.
    """
    path = certificate_of(file)
    if path is None:
        return "it has no certificate", None
    try:
        state, names = declared(base, file)
    except UserError as error:
        return str(error), None
    verdict = check_export(export_file_lines(path), checked=checked)
    if verdict.outcome != "accepted":
        verdict = check_export(export_file_lines(path))
    if verdict.outcome != "accepted":
        return f"{path.name} is {verdict.outcome}: line {verdict.line}: {verdict.reason}", verdict
    missing = [name for name in names if name not in verdict.env]
    if missing:
        return f"{path.name} does not hold {missing[0]}", verdict
    other = other_meaning(verdict.env, state.env, names)
    return f"{other} is another one in {path.name}" if other else "", verdict


def other_meaning(found: Environment, wanted: Environment, names: Iterable[str]) -> str:
    """Return the first constant that differs, of those named and all that their statements use; proofs may differ."""
    reached: set[str] = set()
    stack = list(names)
    while stack:
        name = stack.pop()
        if name in reached:
            continue
        reached.add(name)
        ours, theirs = wanted[name], found.get(name)
        if theirs is None or not _means_the_same(ours, theirs):
            return name
        if ours.kind == "theorem":
            stack += [const for const in _statement(ours).mentions if const != name]
        else:
            stack += ours.mentions
    return ""


def _statement(info: ConstantInfo) -> ConstantInfo:
    """A theorem without its proof."""
    return ConstantInfo(info.name, info.level_params, info.type)


def _means_the_same(ours: ConstantInfo, theirs: ConstantInfo) -> bool:
    if (ours.kind, ours.level_params) != (theirs.kind, theirs.level_params) or not alpha_eq(ours.type, theirs.type):
        return False
    if isinstance(ours, InductiveInfo) and isinstance(theirs, InductiveInfo):
        return (ours.num_params, ours.ctors) == (theirs.num_params, theirs.ctors)
    if ours.kind == "theorem" or not (isinstance(ours, ValueInfo) and isinstance(theirs, ValueInfo)):
        return True
    return alpha_eq(ours.value, theirs.value)

"""Whitelists: the theorems of a data set that a Lean version accepts.

    whitelist = load_whitelist("leanworkbook", "v4.27.0")
    filter_theorems(theorems, whitelist, "leanworkbook train")
    python -m nanoproof.data.whitelist check-init leanworkbook --lean-servers host:8000 --lean-project DIR

A whitelist is a file `<data file>.whitelist.<lean version>.json` beside the data (those of the embedded data set come
with the code). It names theorems by a hash of their source, so it stays valid when theorems are added. Theorems that
it does not know are kept.
"""

import hashlib
import json
import logging
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_text, read_json
from nanoproof.common.run_dir import REPO_ROOT
from nanoproof.data.sources.catalog import CATALOG, how_to_get
from nanoproof.data.sources.manifest import dataset_dir, read_manifest, record_file, write_manifest
from nanoproof.lean.project.layout import EMBEDDED_LEAN, lean_version
from nanoproof.lean.types import Theorem

log = logging.getLogger(__name__)

SHIPPED = REPO_ROOT / "data" / "whitelists"
PROJECT_VARIABLE = "LEAN_PROJECT_PATH"

_HASH = re.compile(r"[0-9a-f]{16}")


def theorem_hash(source: str) -> str:
    """Return a theorem's key in whitelists: the first 16 hexadecimal digits of the SHA-256 of its source as UTF-8."""
    return hashlib.sha256(source.encode("utf-8")).hexdigest()[:16]  # those that are published are keyed so


@dataclass(frozen=True)
class Whitelist:
    """The hashes of the theorems that a Lean version accepts, and of those that it refuses."""

    lean_version: str
    passing: frozenset[str]
    failing: frozenset[str]
    path: Path

    def to_json(self) -> dict[str, Any]:
        """Return the record that is stored in the file."""
        passing, failing = sorted(self.passing), sorted(self.failing)
        counts = {"num_checked": len(passing) + len(failing), "num_passing": len(passing), "num_failing": len(failing)}
        return {"lean_version": self.lean_version, **counts, "passing": passing, "failing": failing}


@dataclass(frozen=True)
class Filtered:
    """The theorems that are kept, the number of failing ones, and of those kept the number not in the whitelist."""

    theorems: list[Theorem]
    failing: int
    unknown: int


# -- Files -----------------------------------------------------------------------------------------------------------


def data_file(name: str) -> str:
    """Return the name of a data set's file, after which its whitelists are named."""
    data_set = CATALOG.get(name)
    return data_set.files[0].local if data_set is not None and data_set.files else f"{name}.jsonl"


def whitelist_path(name: str, version: str) -> Path:
    """Return the path of a data set's whitelist, if it exists or not; a shipped one counts if there is no other."""
    filename = f"{data_file(name)}.whitelist.{version}.json"
    own, shipped = dataset_dir(name) / filename, SHIPPED / filename
    return shipped if shipped.exists() and not own.exists() else own


def load_whitelist(name: str, version: str) -> Whitelist:
    """Load the whitelist of a data set. Raises UserError, with the command that makes it, if there is none."""
    path = whitelist_path(name, version)
    if not path.exists():
        raise UserError(
            f"no whitelist of {name} for Lean {version} ({path} is not there); {_how_to_make(name, version)}"
        )
    return parse_whitelist(path, version)


def parse_whitelist(path: Path, version: str) -> Whitelist:
    """Read a whitelist file. Raises UserError if it is not one, or is for another Lean version."""
    record = read_json(path)
    if not isinstance(record, dict):
        raise UserError(f"{path} is no whitelist: it holds no object")
    passing, failing = _hashes(record, "passing", path), _hashes(record, "failing", path)
    # A file that was renamed for a newer Lean would let theorems through that this one refuses.
    if record.get("lean_version") != version:
        raise UserError(f"{path} is for Lean {record.get('lean_version')}, not {version}")
    return Whitelist(version, passing, failing, path)


def _hashes(record: dict[str, Any], name: str, path: Path) -> frozenset[str]:
    hashes = record.get(name)
    if not isinstance(hashes, list) or not all(isinstance(item, str) and _HASH.fullmatch(item) for item in hashes):
        raise UserError(f"{path} is no whitelist: the field {name!r} must be a list of hashes of 16 digits")
    return frozenset(hashes)


def write_whitelist(name: str, whitelist: Whitelist) -> None:
    """Write a whitelist; if it lies beside a data set with a manifest, list it there."""
    # A hash a line: those that come with the code are in git, whose diffs go by lines.
    fields = [f'"{key}": {_compact(value)}' for key, value in whitelist.to_json().items()]
    atomic_write_text(whitelist.path, "{" + ",\n".join(fields) + "}\n")
    if whitelist.path.parent != dataset_dir(name):
        return
    manifest = read_manifest(name)
    if manifest is not None:
        files = {**manifest.files, whitelist.path.name: record_file(whitelist.path, source="check-init")}
        missing = tuple(filename for filename in manifest.missing if filename != whitelist.path.name)
        write_manifest(replace(manifest, files=files, missing=missing))


def _compact(value: Any) -> str:
    return "[" + ",\n".join(map(json.dumps, value)) + "]" if isinstance(value, list) else json.dumps(value)


def _how_to_make(name: str, version: str) -> str:
    make = f"make it with: python -m nanoproof.data.whitelist check-init {name}"
    if version != EMBEDDED_LEAN:
        make += " --lean-servers HOST:PORT --lean-project DIR"
    if name in CATALOG and version in dict(CATALOG[name].whitelists):
        return f"fetch it with: {how_to_get(name)}, or {make}"
    return make


# -- Filtering -------------------------------------------------------------------------------------------------------


def filter_theorems(theorems: Sequence[Theorem], whitelist: Whitelist, title: str) -> Filtered:
    """Drop failing theorems; unknown ones are kept and counted, with one warning that names `title`."""
    kept, failing, unknown = [], 0, 0
    for theorem in theorems:
        key = theorem_hash(theorem.source)
        if key in whitelist.failing:
            failing += 1
            continue
        # Added to the data since, or never checked: if Lean refuses it, that costs one attempt.
        unknown += key not in whitelist.passing
        kept.append(theorem)
    if unknown and os.environ.get("RANK", "0") == "0":  # all ranks would say the same
        log.warning(
            "%s: %d of %d theorems were not tried yet by whoever made %s; they are used like the others",
            title,
            unknown,
            len(theorems),
            whitelist.path.name,
        )
    return Filtered(kept, failing, unknown)


@dataclass(frozen=True)
class LeanChoice:
    """The Lean version whose whitelists count (None: no whitelists), why, and whether each set must have one."""

    version: str | None = None
    reason: str = "no whitelists"
    required: bool = True

    def version_for(self, name: str) -> str | None:
        """Return the version to list a data set's theorems for; None for all theorems."""
        if self.version is not None and (self.required or whitelist_path(name, self.version).exists()):
            return self.version
        return None


def choose_lean(lean_project: str | None, embedded: bool = False) -> LeanChoice:
    """Choose the Lean version of `--lean-project`, else that of LEAN_PROJECT_PATH unless the embedded prover is used.

    With the embedded prover, data sets without a whitelist for it are not filtered. Raises UserError if the
    project names no version.
    """
    if lean_project:
        version = lean_version(Path(lean_project).expanduser())
        return LeanChoice(version, f"whitelists of Lean {version} (--lean-project {lean_project})")
    if embedded:
        return LeanChoice(EMBEDDED_LEAN, "whitelists of the embedded prover, where there are any", required=False)
    folder = os.environ.get(PROJECT_VARIABLE)
    if folder:
        version = lean_version(Path(folder).expanduser())
        return LeanChoice(version, f"whitelists of Lean {version} ({PROJECT_VARIABLE}={folder})")
    return LeanChoice(reason=f"no whitelists (neither --lean-project nor {PROJECT_VARIABLE} is given)")

"""Which checkpoints a folder has, and what their manifests say; `checkpoint.py` writes and loads them.

Nothing here needs torch, which takes a second or two to import: commands name networks that they may not need.
"""

import hashlib
import re
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.common.files import file_sha256, read_object
from nanoproof.common.run_dir import HUB_CONFIG, is_exported

CHECKPOINT_NAME = re.compile(r"model_(\d+)\.(?:pt|json)")
MANIFEST_NAME = re.compile(r"model_(\d+)\.json")


def finished_steps(directory: Path) -> list[int]:
    """List the steps that have a finished checkpoint in a directory, in ascending order."""
    matches = [MANIFEST_NAME.fullmatch(file.name) for file in directory.iterdir()]
    return sorted(int(match[1]) for match in matches if match is not None)


def newest_network(folder: Path) -> Path | None:
    """Return the run below a folder (`rl/RUN`, `quickstart/rl`) that wrote the newest checkpoint; None if none did."""
    manifests = [file for file in folder.glob("*/*/model_*.json") if MANIFEST_NAME.fullmatch(file.name)]
    if not manifests:
        return None
    return max(manifests, key=lambda file: file.stat().st_mtime).parent


def find_checkpoint(path: Path | str) -> Path:
    """Return the path of a checkpoint's manifest (JSON): of this file, or of the latest step in this directory.

    Raises UserError where there is no finished checkpoint.
    """
    path = Path(path)
    exported = path.parent if path.name == HUB_CONFIG else path
    if exported.is_dir() and is_exported(exported) and not (path.is_dir() and finished_steps(path)):
        return exported / HUB_CONFIG
    if path.is_dir():
        finished = finished_steps(path)
        if not finished and (folders := sorted(path.glob("checkpoint-*/nanoproof.json"))):
            raise UserError(f"the checkpoints in {path} are of transformers: name one, as hf:{folders[-1].parent}")
        if not finished:
            raise UserError(f"no checkpoint (model_<step>.pt with model_<step>.json) in {path}")
        return path / f"model_{finished[-1]}.json"
    manifest = path.with_suffix(".json")
    if CHECKPOINT_NAME.fullmatch(path.name) is None or not manifest.exists():
        raise UserError(f"no checkpoint at {path}: expected a directory, or model_<step>.pt with its .json beside it")
    return manifest


def read_manifest(path: Path | str) -> dict[str, Any]:
    """Read the manifest of a checkpoint file or of the latest in a directory (`step`, `config`, `extra` ...).

    Raises UserError if it is none, as where a disk has damaged it.
    """
    file = find_checkpoint(path)
    manifest = read_object(file) or {}
    # `sha256` is missing in older ones.
    parts = (manifest.get("config"), manifest.get("extra", {}), manifest.get("sha256", {}))
    if not all(isinstance(part, dict) for part in parts):
        raise UserError(f"{file} is damaged: it does not describe a checkpoint")
    return manifest


def weights_sha256(manifest_path: Path) -> str:
    """Return the SHA-256 of a checkpoint's weights: the recorded one, or that of the file where there is none.

    Of adapters it is that of their digest and their base's. Raises UserError if there are no weights.
    """
    manifest = read_manifest(manifest_path)
    weights = manifest_path.parent / str(manifest.get("weights", ""))
    if not weights.is_file():
        raise UserError(f"{manifest_path}: its weights {weights} are not there")
    own = recorded_digest(manifest, weights.name) or file_sha256(weights)
    if "lora" in manifest:
        return hashlib.sha256(f"{own} {manifest['lora'].get('base_sha256')}".encode()).hexdigest()
    return own


def recorded_digest(manifest: dict[str, Any], name: str) -> str | None:
    """Return the SHA-256 that a manifest has of a file; None in older ones."""
    return manifest.get("sha256", {}).get(name)

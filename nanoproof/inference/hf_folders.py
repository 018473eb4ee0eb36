"""Folders and ids that stand for a model of transformers: what they hold instead of one, and which file is damaged."""

import json
import re
import zipfile
from pathlib import Path

import safetensors

from nanoproof.common import hub
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json

ADAPTER_FILE = "adapter_config.json"
"""File of a folder that holds adapters (peft), not a whole model."""
GENERATION_FILE, TOKENIZER_FILE = "generation_config.json", "tokenizer_config.json"

_ID = re.compile(r"(?:\w[\w.-]*/)?\w[\w.-]*")
_PAGE = re.compile(r"https?://[^/]+/([\w.-]+/[\w.-]+)")
_LFS_POINTER = b"version https://git-lfs"
_GGUF = "GGUF, which is not read here: serve it (llama-server -m FILE) and give openai:http://127.0.0.1:8080/v1"
_OTHER_FORMS = {
    "*.gguf": _GGUF,
    "zero_to_fp32.py": "the shards of a run of DeepSpeed: python zero_to_fp32.py . . makes weights of them",
    "*/*.distcp": "the shards of a run of FSDP: accelerate merge-weights makes weights of them",
    "*.distcp": "the shards of a run of FSDP: accelerate merge-weights makes weights of them",
    "consolidated*": "weights in the form of Meta's and Mistral's own code: give them in that of transformers",
    "*.npz": "weights of MLX: give them in the form of transformers",
}
"""What folders hold that are no models of transformers, by a file of them."""


def refuse_out_of_reach(source: str) -> None:
    """Raise UserError for the id of a model that is not on this machine, where the hub cannot be reached."""
    if Path(source).exists() or _ID.fullmatch(source) is None:
        return
    from huggingface_hub import try_to_load_from_cache

    if not any(try_to_load_from_cache(source, name) for name in ("config.json", ADAPTER_FILE)):
        hub.require_reach(f"hf:{source}")


def refuse_no_model(source: str) -> None:
    """Raise UserError for what is no folder with a model and no id of one, and say what it is instead."""
    path = Path(source)
    if path.is_dir():
        _refuse_without_config(path)
        _refuse_damaged_settings(path)
        return
    if path.is_file():
        hint = f"holds {_GGUF}" if path.suffix == ".gguf" else "is a file; give the folder that it is in"
        raise UserError(f"hf:{source} {hint}")
    page = _PAGE.match(source)
    if page is not None:
        raise UserError(f"hf:{source} is a page; give hf:{page[1]}")
    match = hub.NAME.fullmatch(source)
    if match is not None and match["revision"]:
        fetch = f"hf download {match['repository']} --revision {match['revision']} --local-dir DIR"
        raise UserError(f"hf:{source}: a revision can be named of networks of ours alone; {fetch}, then hf:DIR")
    if _ID.fullmatch(source) is None:  # the library would say how ids are formed
        raise UserError(f"hf:{source}: there is no such folder, and it is no id of the hub, which are OWNER/NAME")


def _refuse_without_config(folder: Path) -> None:
    """Raise UserError for a folder that has its models in folders of it, as a training run, or in another form."""
    settings = ("config.json", ADAPTER_FILE)
    if any((folder / name).is_file() for name in settings):
        return
    # Those of the hub's cache are in `snapshots/REVISION`.
    files = [file for name in settings for depth in ("*", "snapshots/*") for file in folder.glob(f"{depth}/{name}")]
    inner = sorted({str(file.parent.relative_to(folder)) for file in files})
    if inner:
        more = f" and {len(inner) - 2} more" if len(inner) > 2 else ""
        shown = ", ".join(inner[:2])
        raise UserError(f"hf:{folder} has no config.json; its models are in {shown}{more}: give one of these")
    refuse_other_forms(folder)
    lacking = "adapter_config.json, which says what its adapters are for"
    if not any(folder.glob("adapter_model.*")):
        lacking = "config.json: give the folder of a model of transformers"
    raise UserError(f"hf:{folder} has no {lacking}")


def refuse_other_forms(folder: Path) -> None:
    """Raise UserError for a folder that has no weights for transformers, and some in another form."""
    if any(file for suffix in ("safetensors", "bin") for file in folder.glob(f"*.{suffix}*")):
        return
    for pattern, what in _OTHER_FORMS.items():
        if any(folder.glob(pattern)):
            raise UserError(f"hf:{folder} holds {what}")


def _refuse_damaged_settings(folder: Path) -> None:
    """Raise UserError for damaged settings, of which transformers passes over those for generation without a word."""
    for name in (ADAPTER_FILE, "config.json", GENERATION_FILE):
        file = folder / name
        if not file.is_file():
            continue
        if _is_pointer(file):
            raise UserError(f"hf:{folder}: {_pointer_problem(file)}")
        if not isinstance(read_json(file), dict):
            raise UserError(f"{file} holds no object")


def _is_pointer(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(_LFS_POINTER)) == _LFS_POINTER


def _pointer_problem(file: Path) -> str:
    # A clone without git-lfs has these in place of large files.
    return f"{file.name} only points to a file of git LFS (git lfs pull brings it)"


def damaged_file(folder: Path) -> str | None:
    """Return which file of weights or settings is damaged or lacks another; None if all begin as they should."""
    for file in sorted(folder.glob("*.*")):
        try:
            if _is_pointer(file):
                return _pointer_problem(file)
            if file.suffix == ".json":
                told = json.loads(file.read_bytes())
                if file.name.endswith(".index.json") and "weight_map" not in told:
                    return f"{file.name} is damaged"
            elif file.suffix == ".safetensors":
                safetensors.safe_open(file, "pt").keys()
            elif file.suffix == ".bin" and not zipfile.is_zipfile(file):
                return f"{file.name} is damaged"
        except (OSError, TypeError, ValueError, RecursionError, safetensors.SafetensorError):
            return f"{file.name} is damaged"
    for part in sorted(folder.glob("*-00001-of-*")):
        index = f"{part.name.partition('-')[0]}{part.suffix}.index.json"
        if not (folder / index).is_file():
            return f"{part.name} is a part, and {index}, which says what is in which, is missing"
    return None

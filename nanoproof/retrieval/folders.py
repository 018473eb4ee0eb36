"""What encoders and retrievers are called, and the folder of one. Nothing here needs torch."""

import contextlib
from pathlib import Path

from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import resolve_model_path

PREFIX = "hf:"
WORDS = "words"
"""SPEC of the encoder that counts words."""
ENCODER_FOLDER, RETRIEVER_FILE = "encoder", "retriever.json"
"""Folder of a retriever with its encoder, and the file that says how it was made."""


def existing_folder(spec: str | None) -> Path:
    """Return the folder of a retriever that a SPEC names. Raises UserError if there is none."""
    folder = retriever_folder(spec or "")
    if folder is None:
        raise UserError(f"--retriever {spec}: no such folder of python -m nanoproof.retrieval train or index")
    return folder


def retriever_folder(spec: str) -> Path | None:
    """Return the folder of a retriever that a SPEC names; None for other SPECs."""
    if spec.startswith((PREFIX, "openai:")):
        return None
    path = Path(spec).expanduser()
    if not path.is_absolute() and not path.exists():
        with contextlib.suppress(UserError):
            path = resolve_model_path(spec)
    if (path / RETRIEVER_FILE).is_file():
        return path
    return None

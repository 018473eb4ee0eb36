"""Which `.lean` files are text that people wrote: generated files, data and what cannot be read are left out."""

import re
from pathlib import PurePosixPath

BUILD_FOLDERS = frozenset({"build", "lake-packages", "_target", "_out", "node_modules"})
MARK_CHARACTERS = 2000
LONG_LINE = 1000
NUMBERS_SHARE = 0.5

_MARKS = re.compile(
    r"""auto-?generated\b | automatically[ ]generated[ ](?:by|from|file) | @generated\b
      | (?:this|the)[ ]file[ ](?:was|is|has[ ]been)[ ](?:\w+[ ])?generated
      | do[ ]not[ ](?:edit|modify)\b | code[ ]generated[ ]by
      | ^\s*(?:--|/-!?|\#)\s*(?:file[ ])?generated[ ](?:by|from|using|with)\b""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_COMMENTS = re.compile(r"--[^\n]*|/-.*?(?:-/|\Z)", re.DOTALL)
_NUMBER = re.compile(r"[0-9]+")


def refused_path(path: str) -> str:
    """Why a file is not taken for its place; "" if it may be."""
    place = PurePosixPath(path)
    for folder in place.parts[:-1]:
        if folder in BUILD_FOLDERS or folder.startswith("."):
            return f"in a folder {folder}"
    return "lakefile" if place.name == "lakefile.lean" else ""


def decode(content: bytes) -> tuple[str, str]:
    """The text of a file with Unix line ends, and why it is none ("" if it is)."""
    if content.startswith(b"version https://git-lfs"):
        return "", "pointer to a large file"
    if b"\0" in content:
        return "", "binary"
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "", "invalid UTF-8"
    return text.replace("\r\n", "\n").replace("\r", "\n"), ""


def refused_text(text: str) -> str:
    """Why a file is not taken for what it holds; "" if it is taken."""
    if not text.strip():
        return "empty"
    beginning = text[:MARK_CHARACTERS]
    comments = "\n".join(_COMMENTS.findall(beginning))
    if _MARKS.search(comments):
        return "says that it is generated"
    if sum(len(line) for line in text.split("\n") if len(line) > LONG_LINE) > len(text) / 2:
        return "data in very long lines"
    characters = sum(map(len, text.split()))
    if len(text) > MARK_CHARACTERS and sum(map(len, _NUMBER.findall(text))) > NUMBERS_SHARE * characters:
        return "mostly numbers"
    return ""

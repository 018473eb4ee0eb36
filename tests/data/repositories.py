"""Git repositories made in a test's folder."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

_ENVIRONMENT = {
    **{
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "t"), ("EMAIL", "t@t"))
    },
    **{f"GIT_{role}_DATE": "2026-01-01T00:00:00Z" for role in ("AUTHOR", "COMMITTER")},
    "GIT_CONFIG_GLOBAL": os.devnull,
}


def make_repository(path: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files and commit them, in a new repository or on top of what is there; returns its folder."""
    if not path.exists():
        subprocess.run(["git", "init", "--quiet", "-b", "main", path], check=True)
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        subprocess.run(["git", "-C", path, "add", "--", name], check=True)
    links = [entry.name for entry in path.iterdir() if entry.is_symlink()]
    if links:
        subprocess.run(["git", "-C", path, "add", "--", *links], check=True)
    environment = {**os.environ, **_ENVIRONMENT}
    subprocess.run(["git", "-C", path, "commit", "--quiet", "-m", "files"], check=True, env=environment)
    return path

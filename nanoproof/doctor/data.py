"""Checks of what lies under `$NANOPROOF_HOME`: tokenizer, data sets, runs and their checkpoints."""

import os
import re
from functools import partial
from pathlib import Path
from typing import Any

from nanoproof.common.files import read_json
from nanoproof.common.run_dir import home
from nanoproof.common.terminal import size
from nanoproof.doctor.lean import project_version
from nanoproof.doctor.report import Asked, Finding, attempt

FIRST_MODEL = "python -m nanoproof.sft --data nanolean --depth 4 --aspect-ratio 32 --head-dim 32"
STAGES = ("pretrain", "midtrain", "sft", "rl")
OWN = "nanolean"
"""The data set that is generated here."""
_MODEL = re.compile(r"model_(\d+)\.json")


def tokenizer(asked: Asked) -> list[Finding]:
    """The tokenizer that stages take when no checkpoint brings its own."""
    make = "python -m scripts.tok_train --vocab-size 1024"
    if not (home() / "tokenizer").exists():
        text = f"none in {home() / 'tokenizer'} (large models of real Lean: python -m scripts.tok_build)"
        return [Finding("tokenizer", "absent", text, make)]
    return [attempt("tokenizer", _tokenizer, "python -m scripts.tok_build")]


def _tokenizer() -> Finding:
    from nanoproof.gpt.tokenizer import Tokenizer

    found = Tokenizer.load(home() / "tokenizer")
    meta = home() / "tokenizer" / "tokenizer_meta.json"
    pattern = f", words split as {read_json(meta).get('pattern')}" if meta.exists() else ""
    return Finding("tokenizer", "ok", f"{found.vocab_size:,} tokens{pattern}, fingerprint {found.fingerprint}")


def hub(asked: Asked) -> list[Finding]:
    """Whether gated data sets can be asked for. The hub itself is not."""
    return [attempt("hub", _hub, "bash runs/setup.sh")]


def _hub() -> Finding:
    import huggingface_hub
    from huggingface_hub.constants import ENDPOINT

    shown = re.sub("//[^/@]*@", "//", ENDPOINT)  # passwords are nobody's business
    if huggingface_hub.get_token():
        return Finding("hub", "ok", f"{shown}, there is a token")
    text = f"{shown}, no token (only gated data sets need one)"
    return Finding("hub", "absent", text, "hf auth login", usable=True)


def data_sets(asked: Asked) -> list[Finding]:
    """Every data set of the catalog, by its manifest."""
    from nanoproof.data.catalog import CATALOG

    try:
        version = project_version(asked)
    except Exception:  # it is told where the project is looked at
        version = None
    findings = []
    for name, data_set in CATALOG.items():
        find = _own_data if name == OWN else partial(_data_set, name, version)
        findings.append(attempt(f"data {name}", find, data_set.command))
    return findings


def _data_set(name: str, version: str | None) -> Finding:
    from nanoproof.data.catalog import CATALOG
    from nanoproof.data.manifest import dataset_dir, find_problems, read_manifest

    key, data_set, directory = f"data {name}", CATALOG[name], dataset_dir(name)
    manifest = read_manifest(name)
    stages = "/".join(data_set.stages)
    if manifest is None:
        terms = f" (first accept its terms at {data_set.gated}, then: hf auth login)" if data_set.gated else ""
        begun = "a download that was not finished" if directory.exists() else "not there"
        return Finding(key, "absent", f"{stages}: {begun}{terms}", data_set.command)
    problems = find_problems(manifest)
    for filename, problem in problems.items():
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        return Finding(key, "broken", f"{stages}: {filename} {problem}{more}", data_set.command)
    wanted = [name for name in manifest.missing if ".whitelist." not in name]
    if wanted:
        return Finding(key, "broken", f"{stages}: {len(wanted)} files did not arrive", data_set.command)
    if version and "rl" in data_set.stages and not any(file.endswith(f".{version}.json") for file in manifest.files):
        check = f"python -m nanoproof.data.whitelist check-init {name} --lean-servers HOST:PORT --lean-project DIR"
        return Finding(key, "broken", f"{stages}: no whitelist for Lean {version}", check)
    rows = sum(record.rows or 0 for record in manifest.files.values())
    counted = f", {rows:,} rows" if rows else ""
    files = f"{len(manifest.files)} file{'s' if len(manifest.files) != 1 else ''}"
    revision = f", {manifest.commit[:12] or manifest.revision}" if manifest.commit or manifest.revision else ""
    versions = [file.split(".whitelist.")[1].removesuffix(".json") for file in manifest.files if ".whitelist." in file]
    lists = f", whitelists of Lean {', '.join(versions)}" if versions else ""
    text = f"{stages}: {files}, {size(manifest.bytes)}{counted}{revision}, {manifest.date[:10]}{lists}"
    return Finding(key, "ok", text)


def _own_data() -> Finding:
    """The embedded set: the benchmark comes with the code, the rest is generated on first use."""
    from nanoproof.data.catalog import CATALOG
    from nanoproof.data.nanolean import made_directory

    key, stages, made = f"data {OWN}", "all stages", made_directory()
    if not (made / "manifest.json").exists():
        older = "made by other code only" if made.parent.exists() else "not made yet"
        text = f"{stages}: {older}; what needs it makes it first (a minute or two)"
        return Finding(key, "absent", text, CATALOG[OWN].command, usable=True)
    counts: dict[str, Any] = read_json(made / "manifest.json")
    counted = {name.replace("_", " "): value for name, value in counts.items() if isinstance(value, int)}
    numbers = [f"{value:,} {name}" for name, value in counted.items() if name != "seed"]
    return Finding(key, "ok", f"{stages}: {', '.join(numbers[:4])}, in {made.name}")


def checkpoints(asked: Asked) -> list[Finding]:
    """Runs, and the checkpoints in them."""
    return [attempt("checkpoints", _checkpoints)]


def _checkpoints() -> Finding:
    runs: dict[str, list[Path]] = {}
    manifests = [path for pattern in ("*/model_*.json", "*/*/model_*.json") for path in home().glob(pattern)]
    finished = [path for path in manifests if _MODEL.fullmatch(path.name)]
    torn = [path for path in finished if not path.with_suffix(".pt").exists()]
    whole = sorted((path for path in finished if path not in torn), key=lambda path: path.stat().st_mtime)
    for path in whole:
        folder = path.parent.relative_to(home())
        stage = next((part for part in reversed(folder.parts) if part in STAGES), folder.parts[0])
        runs.setdefault(stage, []).append(folder)
    begun = sum(1 for stage in STAGES for entry in _entries(home() / stage) if entry.is_dir())
    if not whole:
        text = f"none ({begun} runs without one)" if begun else "none"
        return Finding("checkpoints", "absent", text, FIRST_MODEL)
    newest = whole[-1].with_suffix(".pt").relative_to(home())
    counts = ", ".join(f"{stage} {len(found)} in {len(set(found))} runs" for stage, found in runs.items())
    lost = f"; {len(torn)} without weights, such as {torn[0].relative_to(home())}" if torn else ""
    return Finding("checkpoints", "ok", f"{counts}; newest {newest}{lost}")


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []

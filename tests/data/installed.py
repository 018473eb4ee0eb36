"""Made-up data sets of the real shapes, installed where downloads go."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nanoproof.data.sources.manifest import Manifest, dataset_dir, now, record_file, write_manifest


def install(name: str, **contents: str | bytes) -> Path:
    """Write files (their names with `__` for the dot) and the manifest that lists them; returns the directory."""
    directory = dataset_dir(name)
    directory.mkdir(parents=True, exist_ok=True)
    files = {}
    for key, content in contents.items():
        path = directory / key.replace("__", ".")
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        files[path.name] = record_file(path)
    write_manifest(Manifest(name, "made up", "main", "", now(), files))
    return directory


def install_leanworkbook(rows: Iterable[dict[str, Any]]) -> Path:
    return install("leanworkbook", lean_workbook__json=json.dumps(list(rows), ensure_ascii=False))


def workbook_row(name: str, claim: str = "True", proof: Any = ("trivial",)) -> dict[str, Any]:
    """A row as the file has them, with fields that nobody reads."""
    statement = f"theorem {name} : {claim}  :=  by sorry"
    return {"natural_language_statement": "?", "tags": [], "formal_statement": statement, "proof": proof}


def install_deepseek(rows: Iterable[dict[str, Any]]) -> Path:
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)  # no line end at the end
    return install("deepseek_prover", deepseek_prover__jsonl=lines)


def install_numinamath(table: dict[str, list[Any]]) -> Path:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(table), sink)
    return install("numinamath", numinamath__parquet=sink.getvalue().to_pybytes())


def install_putnambench(problems: Mapping[str, str]) -> Path:
    """Problems by the paths of their files in the repository."""
    directory = dataset_dir("putnambench")
    files = {}
    for path, text in problems.items():
        file = directory / "src" / Path(path).name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        files[f"src/{file.name}"] = record_file(file)
    write_manifest(Manifest("putnambench", "made up", "main", "", now(), files))
    return directory


def install_proofnet(rows: Iterable[dict[str, Any]]) -> Path:
    return install("proofnet", proofnet__jsonl="".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))

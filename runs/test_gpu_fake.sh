#!/usr/bin/env bash
# What the paths for GPUs launch, wait for and keep, on a machine without one: torch's CUDA build in an environment of
# its own (.venv-cuda, 3 GB to download, made on first use), and a device that is pretended (tests/fake_cuda).
#   bash runs/test_gpu_fake.sh           prints each number beside its budget, and fails if one is over
#   CUDA_VENV=DIR bash runs/test_gpu_fake.sh     with another environment
set -euo pipefail
cd "$(dirname "$0")/.."
venv="${CUDA_VENV:-$PWD/.venv-cuda}"
# The environment of a CPU's torch is made only if there is no other Python that could make this one.
python="$venv/bin/python"
if [ ! -x "$python" ]; then
    bash runs/setup.sh >&2
    python="$PWD/.venv/bin/python"
fi
requirements="$(mktemp -d)"
trap 'rm -rf "$requirements"' EXIT
"$python" - "$requirements" <<'PY'
import pathlib, sys, tomllib
project = tomllib.loads(pathlib.Path("pyproject.toml").read_text())
out = pathlib.Path(sys.argv[1])
(out / "pins.txt").write_text("\n".join(project["tool"]["uv"]["constraint-dependencies"]) + "\n")
wanted = project["project"]["optional-dependencies"]["gpu"] + project["project"]["dependencies"]
(out / "all.txt").write_text("\n".join(wanted + project["dependency-groups"]["dev"]) + "\n")
PY
stamp="$venv/nanoproof-setup"
wanted="$(cat "$requirements/pins.txt" "$requirements/all.txt" | sha256sum | cut -d ' ' -f 1)"
if [ ! -x "$venv/bin/python" ] || [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    uv="$(command -v uv || echo .venv/bin/uv)"
    [ -x "$uv" ] || { echo "error: this needs uv (pip install uv)" >&2; exit 2; }
    echo "set-up: making $venv with torch's CUDA build" >&2
    [ -x "$venv/bin/python" ] || "$uv" venv --quiet --python "$python" "$venv"
    VIRTUAL_ENV="$venv" "$uv" pip install --quiet --constraint "$requirements/pins.txt" -r "$requirements/all.txt"
    "$venv/bin/python" -c 'import torch, sys; sys.exit(torch.version.cuda is None and "error: this torch has no CUDA build")'
    # Else every process compiles torch anew where PYTHONDONTWRITEBYTECODE is set.
    "$venv/bin/python" -m compileall -q -j 0 -x 'transformers/models/(?!auto/|__init__)' "$venv/lib" >/dev/null || true
    echo "$wanted" >"$stamp"
fi
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}" OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" CUDA_VISIBLE_DEVICES=
"$venv/bin/python" -m tests.fake_cuda.budgets
"$venv/bin/python" -m pytest -q tests/fake_cuda --deselect tests/fake_cuda/test_fake_cuda.py::test_budgets_are_kept

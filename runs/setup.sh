#!/usr/bin/env bash
# Makes .venv with everything nanoproof needs; does nothing if it is up to date. Needs Python >= 3.11 and git.
# A GPU machine gets the torch build for CUDA; without a GPU a CPU-only build is taken where one can be had.
set -euo pipefail
cd "$(dirname "$0")/.."

python=""
for candidate in "${PYTHON:-}" python3.13 python3.12 python3.11 python3 python; do
    if [ -n "$candidate" ] && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python="$candidate"
        break
    fi
done
if [ -z "$python" ]; then
    echo "error: no Python >= 3.11 found; install one, or name it: PYTHON=/path/to/python bash $0" >&2
    exit 2
fi

stamp=".venv/nanoproof-setup"
wanted="$("$python" -c 'import hashlib; print(hashlib.sha256(open("pyproject.toml", "rb").read() + open("runs/setup.sh", "rb").read()).hexdigest())')"
if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

if [ ! -x .venv/bin/python ]; then
    echo "set-up: making .venv with $("$python" --version)"
    if command -v uv >/dev/null; then
        uv venv --quiet --python "$python" .venv
    else
        "$python" -m venv .venv || { echo "error: $python cannot make a virtual environment (on Debian: apt install python3-venv)" >&2; exit 2; }
    fi
fi
if ! command -v uv >/dev/null && [ ! -x .venv/bin/uv ]; then
    .venv/bin/python -m pip install --quiet uv 2>/dev/null || true
fi
uv="$(command -v uv || true)"
[ -z "$uv" ] && [ -x .venv/bin/uv ] && uv=.venv/bin/uv

requirements="$(mktemp -d)"
trap 'rm -rf "$requirements"' EXIT
.venv/bin/python - "$requirements" <<'PY'
import pathlib, sys, tomllib
project = tomllib.loads(pathlib.Path("pyproject.toml").read_text())
out = pathlib.Path(sys.argv[1])
(out / "pins.txt").write_text("\n".join(project["tool"]["uv"]["constraint-dependencies"]) + "\n")
(out / "torch.txt").write_text("\n".join(project["project"]["optional-dependencies"]["cpu"]) + "\n")
wanted = project["project"]["dependencies"] + project["project"]["optional-dependencies"]["hf"]
wanted += project["dependency-groups"]["dev"] + project["build-system"]["requires"]
(out / "all.txt").write_text("\n".join(wanted) + "\n")
PY

install() {
    if [ -n "$uv" ]; then
        VIRTUAL_ENV="$PWD/.venv" "$uv" pip install --quiet "$@"
    else
        .venv/bin/python -m pip install --quiet --disable-pip-version-check "$@"
    fi
}

install_torch() {
    local found_gpu=no
    command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q GPU && found_gpu=yes
    if [ "$found_gpu" = no ]; then
        # 1. a CPU wheel in the folders that pip is configured to look at; 2. PyTorch's own CPU index, which uv knows.
        if [ -n "${PIP_FIND_LINKS:-}" ] && install --find-links "$PIP_FIND_LINKS" --no-index --no-deps -r "$requirements/torch.txt" 2>/dev/null; then
            echo "set-up: torch from the local wheels that pip is configured with"
            return
        fi
        local limit=""
        command -v timeout >/dev/null && limit="timeout 300"
        # shellcheck disable=SC2086  # several words
        if [ -n "$uv" ] && UV_HTTP_TIMEOUT=15 UV_HTTP_RETRIES=0 VIRTUAL_ENV="$PWD/.venv" $limit "$uv" pip install --quiet \
            --torch-backend cpu --constraint "$requirements/pins.txt" -r "$requirements/torch.txt" 2>/dev/null; then
            echo "set-up: torch from PyTorch's CPU-only builds"
            return
        fi
        echo "set-up: no CPU-only torch to be had; taking the default build, which brings CUDA packages"
    fi
    install --constraint "$requirements/pins.txt" -r "$requirements/torch.txt"
}

started=$SECONDS
echo "set-up: installing packages with ${uv:-pip}"
install_torch
if [ -n "${PIP_FIND_LINKS:-}" ]; then links=(--find-links "$PIP_FIND_LINKS"); else links=(); fi
install ${links[@]+"${links[@]}"} --constraint "$requirements/pins.txt" -r "$requirements/torch.txt" -r "$requirements/all.txt"
install --no-deps --no-build-isolation --editable .
# Else every process compiles torch anew, 3 seconds of it, where PYTHONDONTWRITEBYTECODE is set, as in many containers.
# Of the hundreds of networks in transformers a process reads one or two.
.venv/bin/python -m compileall -q -j 0 -x 'transformers/models/(?!auto/|__init__)' .venv/lib >/dev/null || true
.venv/bin/python -m compileall -q -j 0 nanolean nanoproof scripts >/dev/null || true
.venv/bin/python -c 'import torch; print("set-up: torch", torch.__version__, "CUDA", torch.version.cuda or "none")'
# Some seconds, which the first policy on this CPU would take otherwise; without a C++ compiler torch computes it.
.venv/bin/python -m nanoproof.inference.native_backend || true
echo "$wanted" >"$stamp"
echo "set-up: done in $((SECONDS - started)) s"

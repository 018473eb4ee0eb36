#!/usr/bin/env bash
# Set-up, then lint, types and tests. `--setup-only` stops after the set-up. Other arguments go to pytest.
# Without any, the tests run that each change is to pass: all but those marked `nightly`, which take as long again and
# reach one line of the code that the others do not. NANOPROOF_NIGHTLY=1 runs all, with more random draws and other ones.
# What the numeric tests say on another processor (one without AVX-512, one without vector instructions):
#   ATEN_CPU_CAPABILITY=avx2 bash runs/test.sh tests/model tests/inference tests/training tests/policy     and with =default
set -euo pipefail
cd "$(dirname "$0")/.."
bash runs/setup_web.sh &
web=$!
bash runs/setup.sh || { wait "$web"; exit 2; }
wait "$web"
if [ "${1:-}" = "--setup-only" ]; then
    echo "set up; next: bash runs/quickstart.sh (a prover in a quarter of an hour), or source .venv/bin/activate && python -m nanoproof.doctor"
    exit 0
fi
[ $# -gt 0 ] || [ -n "${NANOPROOF_NIGHTLY:-}" ] || set -- -m "not nightly"
source .venv/bin/activate
NANOPROOF_TEST_HOME="$(mktemp -d)"
trap 'rm -rf "$NANOPROOF_TEST_HOME"' EXIT
# What the set-up compiled for this processor; its name says of what, and what is of another source is not taken.
mkdir -m 700 "$NANOPROOF_TEST_HOME/cache"
cp -r "${NANOPROOF_HOME:-$HOME/.nanoproof}/cache/native" "$NANOPROOF_TEST_HOME/cache/" 2>/dev/null || true
export NANOPROOF_HOME="$NANOPROOF_TEST_HOME" WANDB_MODE=disabled OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
ruff check .
ruff format --check .
python -m nanolean build > /dev/null &  # into the cache; the tests would wait for it
library=$!
# Else each of hundreds of processes compiles our modules anew where PYTHONDONTWRITEBYTECODE is set, as in containers.
unset PYTHONDONTWRITEBYTECODE
python -m compileall -q -j 0 nanolean nanoproof scripts benchmarks tests > /dev/null || true
# Side by side, as one of them alone leaves a core idle. Types and the page are checked while tests are collected.
mypy &
types=$!
page=""
if [ -x web/node_modules/.bin/tsc ]; then
    (cd web && npm run --silent types && npm test --silent) &
    page=$!
fi
wait "$library"
# Into the cache too, seven seconds of processor: collecting the tests takes one core.
python -c "from nanoproof.data.nanolean import held_out_keys; held_out_keys()" > /dev/null &
# Tests wait for processes, servers and deadlines; a further worker takes next to nothing, as it is forked after imports.
# To ask CUDA itself whether there is a GPU, before that, would keep them from using it.
export PYTORCH_NVML_BASED_CUDA_CHECK=1
workers="$((3 * $(getconf _NPROCESSORS_ONLN)))"
if ! python -m pytest -p tests.workers --workers "$((workers < 16 ? workers : 16))" "$@"; then
    echo "tests that failed beside others are run again by themselves; what fails again is broken"
    python -m pytest --last-failed --last-failed-no-failures none "$@"
fi
wait "$types"
[ -z "$page" ] || wait "$page"

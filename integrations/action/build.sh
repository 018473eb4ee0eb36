#!/usr/bin/env bash
# Builds the project in $PROJECT with the Lean that it names, and the REPL of the same version beside it.
set -euo pipefail
PATH="$HOME/.elan/bin:$PATH"
cd "$PROJECT"
if ! command -v lake >/dev/null; then
    curl -sSf https://raw.githubusercontent.com/leanprover/elan/master/elan-init.sh | sh -s -- -y --default-toolchain none
fi
lake exe cache get || true # only a project with Mathlib has it
lake build
repl="$RUNNER_TEMP/repl"
if [ ! -x "$repl/.lake/build/bin/repl" ]; then
    version="$(sed 's/.*://' lean-toolchain | tr -d '[:space:]')"
    git clone --quiet --depth 1 --branch "$version" https://github.com/leanprover-community/repl "$repl"
    (cd "$repl" && lake build repl)
fi

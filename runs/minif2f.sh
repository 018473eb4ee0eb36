#!/usr/bin/env bash
# What does a model score on miniF2F? From set-up to a table: data, Lean with Mathlib and a server, a probe of it, the
# model's tree search with 512 simulations, whole proofs of an open prover if one is named, baselines, intervals,
# comparisons, a second check of every proof, and workspaces for public judges.
#   bash runs/minif2f.sh --model-path rl/RUN --claim 52.7
#   bash runs/minif2f.sh --model-path rl/RUN --whole-proofs hf:ORG/PROVER --whole-flags "--prompt-format NAME"
#   bash runs/minif2f.sh --model-path rl/RUN --dry-run        the commands alone
#   bash runs/minif2f.sh --model-path rl/RUN --lean-servers host-a:8000 host-b:8000      servers that run already
#   bash runs/minif2f.sh --rehearsal                          the same stages on NanoLean with small networks
# The same command resumes where it was stopped. The measurement itself has not been run where this was written: there
# was no Lean with Mathlib, and neither hub nor host of files. The rehearsal has.
set -euo pipefail
cd "$(dirname "$0")/.."
bash runs/setup.sh >&2
source .venv/bin/activate
exec python -m scripts.minif2f "$@"

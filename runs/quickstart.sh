#!/usr/bin/env bash
# From nothing to a prover that learns, on a laptop: set-up, tokenizer, supervised finetuning, evaluation,
# reinforcement learning, evaluation, export, all of it to watch on http://localhost:5050. 12 minutes on 2 quiet cores.
# Arguments go to scripts/quickstart.py (--seed 1, --monitor-port none, ...).
set -euo pipefail
cd "$(dirname "$0")/.."
started=$(date +%s)
bash runs/setup.sh
bash runs/setup_lean_kernel.sh
source .venv/bin/activate
exec python -m scripts.quickstart --started "$started" "$@"

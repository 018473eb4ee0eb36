#!/usr/bin/env bash
# Does RL learn? On 2 CPU cores, on NanoLean: finetuning, RL for half an hour, a control with as many updates on
# supervised data alone, and their scores on held-out theorems, as table and curves. What is finished is kept: the same
# command resumes where it was stopped. About two hours and a half for the two seeds; ABLATIONS=1 adds an hour.
#   SEEDS="0 1" RL_MINUTES=30 ABLATIONS=1 bash runs/rl_cpu.sh
#   bash runs/rl_cpu.sh --quick       everything very small, to see it run
# Other arguments go to scripts/rl_cpu.py (--out DIR, --theorems 100, --arms starts steps, --monitor-port 5050, ...).
set -euo pipefail
cd "$(dirname "$0")/.."
bash runs/setup.sh
source .venv/bin/activate
arguments=()
# shellcheck disable=SC2206  # several seeds are several words
[ -z "${SEEDS:-}" ] || arguments+=(--seeds $SEEDS)
[ -z "${RL_MINUTES:-}" ] || arguments+=(--minutes "$RL_MINUTES")
[ "${ABLATIONS:-0}" = 0 ] || arguments+=(--ablations)
exec python -m scripts.rl_cpu ${arguments[@]+"${arguments[@]}"} "$@"  # an empty array is an error in bash 3

#!/usr/bin/env bash
# From a model of others to a better prover: finetuning with a value head, RL on real Lean, a score before and after.
#   LEAN_SERVERS="host-a:8000 host-b:8000" bash runs/rl_open_prover.sh hf:ORG/PROVER
#   DRY_RUN=1 bash runs/rl_open_prover.sh hf:ORG/PROVER                 the commands, and the memory that they need
#   TINY=1 bash runs/rl_open_prover.sh                                  a small decoder on NanoLean, minutes on two cores
# What is finished is kept: the same command goes on where it was stopped. Settings, from the environment:
#   OUT (rl_open_prover)  LORA (16; 0 trains the whole model)  GPUS (1)  HOURS (24)  ENDPOINTS ("http://gpu2:8000/v1 ...")
#   DATA (leantree)  EPOCHS (1)  DATASETS (auto)  BENCHMARK (minif2f)  SIMULATIONS (64)
# With real Lean and a GPU it has not been run where this was written; the tiny form has.
set -euo pipefail
cd "$(dirname "$0")/.."
OUT="${OUT:-rl_open_prover}" LORA="${LORA:-16}" GPUS="${GPUS:-1}" HOURS="${HOURS:-24}" MODEL="${1:-}"
lean=() more=() adapters=() endpoints=()
[ "${DRY_RUN:-0}" = 1 ] || [ "${SKIP_SETUP:-0}" = 1 ] || bash runs/setup.sh >&2
[ ! -e .venv/bin/activate ] || source .venv/bin/activate
run() {
  echo "+ $*"
  [ "${DRY_RUN:-0}" = 1 ] || "$@"
}
launch() {
  if [ "$GPUS" -gt 1 ]; then run torchrun --standalone "--nproc_per_node=$GPUS" -m "$1" -- "${@:2}"; else run python -m "$@"; fi
}
if [ "${TINY:-0}" = 1 ]; then
  # Everything as below with a network of 30 seconds of finetuning: to see each command run to its end.
  DATA="${DATA:-nanolean}" EPOCHS="${EPOCHS:-0.1}" DATASETS="${DATASETS:-nanolean}" BENCHMARK="${BENCHMARK:-nanolean}"
  SIMULATIONS="${SIMULATIONS:-8}"
  more=(--device-type cpu) MODEL="hf:$OUT/base"
  [ -e "$OUT/tokenizer/tokenizer.json" ] || run python -m scripts.tok_train --out "$OUT/tokenizer"
  [ -e "$OUT/base/config.json" ] || run python -m scripts.tiny_decoder "$OUT/base" --tokenizer "$OUT/tokenizer"
else
  DATA="${DATA:-leantree}" EPOCHS="${EPOCHS:-1}" DATASETS="${DATASETS:-auto}" BENCHMARK="${BENCHMARK:-minif2f}"
  SIMULATIONS="${SIMULATIONS:-64}"
  [ -n "$MODEL" ] || { echo "usage: LEAN_SERVERS=\"HOST:PORT ...\" bash runs/rl_open_prover.sh hf:ORG/PROVER" >&2; exit 2; }
  [ -n "${LEAN_SERVERS:-}" ] || [ "${DRY_RUN:-0}" = 1 ] || { echo "LEAN_SERVERS is not set: docs/lean-servers.md says how to start one" >&2; exit 2; }
  # shellcheck disable=SC2206  # several servers are several words
  lean=(--lean-servers ${LEAN_SERVERS:-HOST:8000})
fi
# A whole network of billions of parameters is divided over the GPUs; beside adapters each can hold its base.
if [ "$LORA" != 0 ]; then adapters=(--lora "$LORA"); elif [ "$GPUS" -gt 1 ]; then adapters=(--shard); fi
# shellcheck disable=SC2206
[ -z "${ENDPOINTS:-}" ] || endpoints=(--policy-endpoint $ENDPOINTS)
# None is no error: with `pipefail` a failing `ls` ended the script, a dry run above all, behind its first command.
last() { { ls -d "$1"/checkpoint-* 2> /dev/null || true; } | sort -V | tail -1; }

if [ "${DRY_RUN:-0}" = 1 ] && [ "${TINY:-0}" != 1 ]; then
  WORLD_SIZE="$GPUS" python -m nanoproof.rl --model-path "$MODEL" --value-weight 0.1 --dry-run ${adapters[@]+"${adapters[@]}"} \
    ${endpoints[@]+"${endpoints[@]}"} || echo "the memory cannot be estimated: see above"
fi

# 1. The value head, and the language of tactics.
if [ ! -e "$OUT/sft/finished" ]; then
  start=(--model-path "$MODEL" --run-dir "$OUT/sft")
  [ -z "$(last "$OUT/sft")" ] || start=(--resume-from "$OUT/sft")
  launch nanoproof.sft "${start[@]}" --data "$DATA" --epochs "$EPOCHS" --value-weight 0.1 --save-every 0:30:00 \
    ${adapters[@]+"${adapters[@]}"} ${more[@]+"${more[@]}"}
fi
trained="$(last "$OUT/sft")"
trained="hf:${trained:-$OUT/sft/checkpoint-N}"

# 2. What it proves now.
score() {
  [ -e "$OUT/$1/finished" ] || launch scripts.prover_eval --model-path "$2" --datasets "$BENCHMARK" --split test --continue \
    --num-simulations "$SIMULATIONS" --output-dir "$OUT/$1" ${lean[@]+"${lean[@]}"} ${more[@]+"${more[@]}"}
}
score eval_before "$trained"

# 3. Reinforcement learning.
if [ ! -e "$OUT/rl/finished" ]; then
  start=(--model-path "$trained" --run-dir "$OUT/rl")
  [ -z "$(last "$OUT/rl")" ] || start=(--resume-from "$OUT/rl")
  hours="${TINY:+0:02:00}"
  launch nanoproof.rl "${start[@]}" --datasets "$DATASETS" --sft-data "$DATA" --eval-datasets "$BENCHMARK" \
    --max-time "${hours:-$HOURS:00:00}" --value-weight 0.1 --save-every 0:30:00 --keep-checkpoints 3 \
    --num-simulations-eval "$SIMULATIONS" ${adapters[@]+"${adapters[@]}"} ${lean[@]+"${lean[@]}"} \
    ${endpoints[@]+"${endpoints[@]}"} ${more[@]+"${more[@]}"} ${TINY:+--eval-every never --no-eval-start --monitor-port none}
fi
learned="$(last "$OUT/rl")"

# 4. What it proves after, and whether that is more than chance.
score eval_after "hf:${learned:-$OUT/rl/checkpoint-N}"
run python -m scripts.compare_evals "$OUT/eval_before" "$OUT/eval_after"

#!/usr/bin/env bash
# The whole pipeline: tokenizer, pretraining, midtraining, finetuning, evaluation, reinforcement learning, evaluation.
# Everything is said by environment variables:
#   GPUS=8 DEPTH=20 SFT_DATA=leantree LEAN_SERVERS="host-a:8000 host-b:8000" bash runs/full.sh
#   TINY=1 bash runs/full.sh          the same on a CPU with NanoLean and a very small network, to see it run
# Ctrl-C (or a signal to a stage) stops everything with a checkpoint; with the same variables again, finished stages are
# skipped and the one that was stopped goes on. The stages lie under $NANOPROOF_HOME/<stage>/$NAME. Without RL_STEPS, RL
# runs until it is stopped.
set -euo pipefail
cd "$(dirname "$0")/.."
bash runs/setup.sh
source .venv/bin/activate

if [ "${TINY:-0}" = 1 ]; then
    small=(--aspect-ratio 32 --head-dim 32 --sequence-len 256 --window-pattern L --device-type cpu)
    : "${NAME:=tiny}" "${GPUS:=1}" "${DEPTH:=2}" "${VOCAB_SIZE:=1024}" "${RL_STEPS:=2}" "${EVAL_THEOREMS:=8}"
    : "${PRETRAIN_DATA:=nanolean}" "${MIDTRAIN_DATA:=nanolean}" "${SFT_DATA:=nanolean}" "${RL_DATA:=nanolean}"
    : "${PRETRAIN_FLAGS:=--device-batch-size 8 --total-batch-size 4096 --num-steps 20 --eval-tokens 8192}"
    : "${MIDTRAIN_FLAGS:=--device-batch-size 8 --total-batch-size 4096 --num-steps 10 --eval-tokens 8192 --device-type cpu}"
    : "${SFT_FLAGS:=--epochs 0.2 --target-examples-per-step 64 --row-length 256 --max-eval-examples 200 --device-type cpu}"
    : "${RL_FLAGS:=--collect-transitions 8 --collect-max-time 0:00:30 --num-updates-per-step 1 --target-examples-per-step 32 --row-length 256 --eval-every never --no-eval-start --max-eval-theorems 8 --num-simulations-eval 8 --monitor-port none --lean-processes 4 --device-type cpu}"
    : "${EVAL_FLAGS:=--num-simulations 8 --lean-processes 4 --device-type cpu}"
else
    small=()
    if [ -z "${GPUS:-}" ]; then
        GPUS="$(nvidia-smi -L 2>/dev/null | grep -c GPU || true)"
        [ "$GPUS" -gt 0 ] || { echo "error: no GPU found; say GPUS=N, or TINY=1 to try the pipeline on a CPU" >&2; exit 2; }
    fi
    : "${NAME:=d${DEPTH:=20}}" "${VOCAB_SIZE:=}" "${RL_STEPS:=}" "${EVAL_THEOREMS:=}"
    : "${PRETRAIN_DATA:=nemotron}" "${MIDTRAIN_DATA:=leangithubraw}" "${SFT_DATA:=nanolean}" "${RL_DATA:=nanolean}"
    : "${PRETRAIN_FLAGS:=}" "${MIDTRAIN_FLAGS:=}" "${SFT_FLAGS:=}" "${RL_FLAGS:=}" "${EVAL_FLAGS:=}"
fi
: "${EVAL_DATA:=nanolean}" "${SEED:=0}" "${LEAN_SERVERS:=}" "${SAVE_EVERY:=1:00:00}"
home="${NANOPROOF_HOME:=$HOME/.nanoproof}"
export NANOPROOF_HOME
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
# A stage that is interrupted saves and ends in order: then nothing may come after it.
stopped() {
    echo "stopped; the same command goes on from here" >&2
    exit 130
}
trap stopped INT TERM
servers=()
# shellcheck disable=SC2206  # several addresses are several words, here and in the *_FLAGS below
[ -z "$LEAN_SERVERS" ] || servers=(--lean-servers $LEAN_SERVERS)

# run MODULE ARGUMENTS...: on one process for each GPU.
run() {
    echo "== $*"
    if [ "$GPUS" -gt 1 ]; then
        torchrun --standalone --nproc_per_node="$GPUS" -m "$1" -- "${@:2}"  # without --, torchrun takes --run as its own
    else
        python -m "$@"
    fi
}

# stage NAME ARGUMENTS...: a training stage; its own directory says whether it is finished, begun, or new.
stage() {
    local name="$1" dir="$home/$1/$NAME"
    shift
    if [ -e "$dir/finished" ]; then
        echo "== $name: finished, in $dir"
        return
    fi
    if compgen -G "$dir/model_*.json" >/dev/null; then
        run "nanoproof.$name" --resume-from "$dir"
    else
        rm -rf "$dir"
        run "nanoproof.$name" --run "$NAME" --run-dir "$dir" --seed "$SEED" "$@"
    fi
    [ -e "$dir/finished" ] || stopped  # a stage that a signal ends has saved, and ends with 0 too
}

# evaluate STAGE: solved theorems of the held-out benchmark, beside the last checkpoint.
evaluate() {
    # shellcheck disable=SC2086
    run scripts.prover_eval --model-path "$1/$NAME" --datasets $EVAL_DATA --split test --seed "$SEED" --force \
        ${EVAL_THEOREMS:+--max-theorems "$EVAL_THEOREMS"} "${servers[@]}" $EVAL_FLAGS
}

if [ ! -e "$home/tokenizer/tokenizer.json" ]; then
    if [ -n "$VOCAB_SIZE" ]; then
        python -m scripts.tok_train --vocab-size "$VOCAB_SIZE"
    else
        python -m scripts.tok_build
    fi
fi

# shellcheck disable=SC2086
{
    stage pretrain --depth "$DEPTH" "${small[@]}" --data "$PRETRAIN_DATA" --save-every "$SAVE_EVERY" $PRETRAIN_FLAGS
    stage midtrain --model-path "pretrain/$NAME" --data "$MIDTRAIN_DATA" --save-every "$SAVE_EVERY" $MIDTRAIN_FLAGS
    stage sft --model-path "midtrain/$NAME" --data "$SFT_DATA" --save-every "$SAVE_EVERY" $SFT_FLAGS
    run scripts.policy_eval --model-path "sft/$NAME" --data "$SFT_DATA"
    evaluate sft
    stage rl --model-path "sft/$NAME" --datasets $RL_DATA "${servers[@]}" ${RL_STEPS:+--num-steps "$RL_STEPS"} $RL_FLAGS
    evaluate rl
}

#!/usr/bin/env bash
# The whole pipeline on one machine with 8 GPUs: download, tokenizer, pretraining, midtraining, finetuning, Lean with
# Mathlib and its servers, reinforcement learning, and scores on miniF2F and ProofNet (valid) after finetuning and RL.
#   DRY_RUN=1 bash runs/speedrun.sh   says what it would take (estimates), prints the commands, checks their flags;
#                                     DRY_RUN=commands prints the commands and nothing else
#   bash runs/speedrun.sh             the run; before it: hf auth login, with the terms of nemotron accepted
#   TINY=1 bash runs/speedrun.sh      the same on a CPU with NanoLean and a very small network, to see it run
# Everything is said by environment variables, as in
#   GPUS=8 DEPTH=20 RL_TIME=24:00:00 LEAN_SERVERS="host-a:8000 host-b:8000" bash runs/speedrun.sh
# Ctrl-C stops everything with a checkpoint; with the same variables again, finished stages are skipped and the one that
# was stopped resumes. The stages lie under $NANOPROOF_HOME/<stage>/$NAME; docs/training.md says what each leaves there.
# Not run as a whole yet: where this was written there were neither such GPUs, nor Lean, nor the data.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${DRY_RUN:=0}" "${TINY:=0}"
[ "$DRY_RUN" = commands ] || bash runs/setup.sh >&2
[ ! -e .venv/bin/activate ] || source .venv/bin/activate

if [ "$TINY" = 1 ]; then
    small=(--aspect-ratio 32 --head-dim 32 --sequence-len 256 --window-pattern L)
    : "${DEVICE:=cpu}"
    : "${NAME:=tiny}" "${GPUS:=1}" "${DEPTH:=2}" "${VOCAB_SIZE:=1024}" "${EVAL_THEOREMS:=8}" "${EVAL_SPLIT:=test}"
    : "${PRETRAIN_DATA:=nanolean}" "${MIDTRAIN_DATA:=nanolean}" "${SFT_DATA:=nanolean}" "${RL_DATA:=nanolean}"
    : "${EVAL_DATA:=nanolean}" "${RL_TIME:=never}"
    : "${PRETRAIN_FLAGS:=--device-batch-size 8 --total-batch-size 4096 --num-steps 20 --eval-tokens 8192}"
    : "${MIDTRAIN_FLAGS:=--device-batch-size 8 --total-batch-size 4096 --num-steps 10 --eval-tokens 8192}"
    : "${SFT_FLAGS:=--epochs 0.2 --target-examples-per-step 64 --row-length 256 --max-eval-examples 200}"
    : "${RL_FLAGS:=--num-steps 2 --collect-transitions 8 --collect-max-time 0:00:30 --num-updates-per-step 1 --target-examples-per-step 32 --row-length 256 --eval-every never --no-eval-start --max-eval-theorems 8 --num-simulations-eval 8 --monitor-port none --lean-processes 4 --eval-datasets nanolean --sft-data nanolean}"
    : "${EVAL_FLAGS:=--num-simulations 8 --lean-processes 4}"
else
    small=()
    : "${DEVICE:=cuda}"
    if [ -z "${GPUS:-}" ]; then
        GPUS="$(nvidia-smi -L 2>/dev/null | grep -c GPU || true)"
        [ "$GPUS" -gt 0 ] || [ "$DRY_RUN" = 0 ] || GPUS=8
        [ "$GPUS" -gt 0 ] || { echo "error: no GPU found; say GPUS=N, or TINY=1 to try the pipeline on a CPU" >&2; exit 2; }
    fi
    : "${NAME:=d${DEPTH:=26}}" "${VOCAB_SIZE:=}" "${EVAL_THEOREMS:=}" "${EVAL_SPLIT:=valid}"
    : "${PRETRAIN_DATA:=nemotron}" "${MIDTRAIN_DATA:=leangithubraw}" "${SFT_DATA:=leantree}"
    : "${RL_DATA:=leanworkbook numinamath deepseek_prover}" "${EVAL_DATA:=minif2f proofnet}" "${RL_TIME:=48:00:00}"
    : "${PRETRAIN_FLAGS:=}" "${MIDTRAIN_FLAGS:=}" "${SFT_FLAGS:=}" "${EVAL_FLAGS:=}"
    : "${RL_FLAGS:=--eval-datasets minif2f --sft-data $SFT_DATA --keep-checkpoints 4}"
fi
: "${SEED:=0}" "${SAVE_EVERY:=1:00:00}" "${SHARDS:=12}" "${LEAN_SERVERS:=}" "${LEAN_PORT:=8000}"
home="${NANOPROOF_HOME:=$HOME/.nanoproof}"
plan=(--depth "$DEPTH" --gpus "$GPUS" --rl-time "$RL_TIME" ${LEAN_PROCESSES:+--lean-processes "$LEAN_PROCESSES"})
if [ -z "${LEAN_PROCESSES:-}" ]; then  # a core and 4 GB for each; two cores are left to each GPU
    cores=$(($(nproc) - 2 * GPUS)) fit=$(($(awk '/MemTotal/ {print $2}' /proc/meminfo) / 4194304))
    LEAN_PROCESSES=$((cores < fit ? cores : fit))
    [ "$LEAN_PROCESSES" -gt 0 ] || LEAN_PROCESSES=1
fi
: "${LEAN_PROJECT:=${LEAN_PROJECT_PATH:-$home/lean}}"
device=(--device-type "$DEVICE")  # of every stage: one that is not there ends the run, which never goes on elsewhere
export NANOPROOF_HOME OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
servers=()
# shellcheck disable=SC2206  # several addresses are several words, here and in the *_FLAGS below
[ -z "$LEAN_SERVERS" ] || servers=(--lean-servers $LEAN_SERVERS)
real_lean=1
[ "$RL_DATA $EVAL_DATA" != "nanolean nanolean" ] || real_lean=0

# A stage that is interrupted saves and ends in order: then nothing may come after it.
stopped() {
    echo "stopped; the same command resumes from here" >&2
    exit 130
}
trap stopped INT TERM
server_pid=""
trap '[ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null || true' EXIT

# plain COMMAND...: runs a command; with DRY_RUN=1 prints it for scripts.check_flags.
plain() {
    if [ "$DRY_RUN" != 0 ]; then printf '%q ' "$@" && echo; else echo "== $*" && "$@"; fi
}

# run MODULE ARGUMENTS...: on one process for each GPU.
run() {
    if [ "$GPUS" -gt 1 ]; then
        plain torchrun --standalone --nproc_per_node="$GPUS" -m "$1" -- "${@:2}"  # without --, torchrun takes --run as its own
    else
        plain python -m "$@"
    fi
}

# ready STAGE DATA...: shows the doctor's page and ends the script where something is missing that the stage needs.
ready() {
    local word names=()
    for word in "${@:2}"; do
        case "$word" in */* | *.*) word=nanolean ;; esac  # a file is no data set
        names+=("$word")
    done
    local look=(python -m nanoproof.doctor "${device[@]}" --for "$1" --datasets "${names[@]}" "${servers[@]}") page
    if [ "$DRY_RUN" != 0 ]; then plain "${look[@]}" && return; fi
    page="$("${look[@]}")" || { echo "$page" >&2 && exit 1; }
}

# stage NAME ARGUMENTS...: a training stage; its own directory says whether it is finished, begun, or new.
stage() {
    local name="$1" dir="$home/$1/$NAME"
    shift
    if [ -e "$dir/finished" ] && [ "$DRY_RUN" = 0 ]; then
        echo "== $name: finished, in $dir"
        return
    fi
    if compgen -G "$dir/model_*.json" >/dev/null && [ "$DRY_RUN" = 0 ]; then
        run "nanoproof.$name" --resume-from "$dir"
    else
        [ "$DRY_RUN" != 0 ] || rm -rf "$dir"
        run "nanoproof.$name" --run "$NAME" --run-dir "$dir" --seed "$SEED" "${device[@]}" "$@"
    fi
    [ "$DRY_RUN" != 0 ] || [ -e "$dir/finished" ] || stopped  # a stage that a signal ends has saved, and ends with 0 too
}

# evaluate WORDS...: solved theorems of the held-out benchmarks; resumes where it was stopped.
evaluate() {
    # shellcheck disable=SC2086
    run scripts.prover_eval "$@" "${device[@]}" --datasets $EVAL_DATA --split "$EVAL_SPLIT" --seed "$SEED" --continue \
        ${EVAL_THEOREMS:+--max-theorems "$EVAL_THEOREMS"} "${servers[@]}" $EVAL_FLAGS
}

# download: what the stages read and cannot make themselves.
download() {
    local name names=()
    # shellcheck disable=SC2086
    for name in $PRETRAIN_DATA $SFT_DATA $RL_DATA $EVAL_DATA; do
        case "$name" in nemotron | leantree | leanworkbook | numinamath | deepseek_prover | minif2f | proofnet | putnambench) names+=("$name") ;; esac
    done
    if [ "$MIDTRAIN_DATA" = leangithubraw ]; then names+=(minif2f proofnet putnambench); fi  # decontamination reads them
    mapfile -t names < <(printf '%s\n' "${names[@]}" | awk 'NF && !seen[$0]++')
    [ ${#names[@]} = 0 ] || plain python -m nanoproof.data.download "${names[@]}" --shards "$SHARDS"
    [ "$MIDTRAIN_DATA" != leangithubraw ] || plain python -m nanoproof.data.midtrain.leangithubraw build
}

# tokenizer: makes the one of these runs. One that lies there already is taken if it is what they would make.
tokenizer() {
    local directory="$home/tokenizer" found
    if [ "$DRY_RUN" = 0 ] && [ -e "$directory/tokenizer.json" ]; then
        [ ! -e "$home/pretrain/$NAME" ] || return 0  # its checkpoints carry their own
        found="$(python -c 'import json, sys; meta = json.load(open(sys.argv[1])); print(meta["vocab_size"] if meta.get("merges") != "gpt2" else "")' \
            "$directory/tokenizer_meta.json" 2>/dev/null || echo unknown)"
        [ "$found" != "$VOCAB_SIZE" ] || return 0
        echo "error: $directory holds a tokenizer of another size (${found:-that of tok_build}) than this run would make (${VOCAB_SIZE:-that of tok_build}): take it away, name its VOCAB_SIZE, or say another NANOPROOF_HOME" >&2
        exit 2
    elif [ -n "$VOCAB_SIZE" ]; then
        plain python -m scripts.tok_train --vocab-size "$VOCAB_SIZE"
    else
        plain python -m scripts.tok_build
    fi
}

# lean: Lean with Mathlib in $LEAN_PROJECT, and a server on this machine until the script ends.
lean() {
    export LEAN_PROJECT_PATH="$LEAN_PROJECT"  # which Lean it is, also where its servers are elsewhere
    if [ "$DRY_RUN" != 0 ] || [ ! -e "$LEAN_PROJECT/lean-toolchain" ]; then
        plain python -m nanoproof.lean.project create "$LEAN_PROJECT" --libraries mathlib formal_conjectures
    fi
    [ -z "$LEAN_SERVERS" ] || return 0
    plain python -m nanoproof.lean.project setup "$LEAN_PROJECT" --install-elan
    export PATH="$HOME/.elan/bin:$PATH"
    local imports=(Mathlib FormalConjecturesForMathlib.Analysis.SpecialFunctions.NthRoot FormalConjectures.Util.Answer)
    local command=(python -m nanoproof.lean.server --project-path "$LEAN_PROJECT" --repl-exe repl/.lake/build/bin/repl)
    command+=(--imports "${imports[@]}" --max-processes "$LEAN_PROCESSES" --port "$LEAN_PORT" --warmup)
    # Every user of this machine reaches the port, and Lean runs programs for whoever asks it.
    NANOPROOF_LEAN_TOKEN="${NANOPROOF_LEAN_TOKEN:-$(python -c 'import secrets; print(secrets.token_urlsafe(32))')}"
    export NANOPROOF_LEAN_TOKEN
    servers=(--lean-servers "localhost:$LEAN_PORT")
    if [ "$DRY_RUN" != 0 ]; then plain "${command[@]}" && return; fi
    echo "== ${command[*]} (log: $home/lean-server.log)"
    "${command[@]}" >"$home/lean-server.log" 2>&1 &
    server_pid=$!
    until (exec 3<>"/dev/tcp/127.0.0.1/$LEAN_PORT") 2>/dev/null; do  # with --warmup it listens when it can prove
        kill -0 "$server_pid" 2>/dev/null || { tail -n 3 "$home/lean-server.log" >&2; echo "error: the Lean server ended" >&2; exit 2; }
        sleep 2
    done
}

# pipeline: all stages.
# shellcheck disable=SC2086
pipeline() {
    download
    tokenizer
    ready pretrain $PRETRAIN_DATA
    stage pretrain --depth "$DEPTH" "${small[@]}" --data "$PRETRAIN_DATA" --save-every "$SAVE_EVERY" $PRETRAIN_FLAGS
    ready midtrain $MIDTRAIN_DATA
    stage midtrain --model-path "pretrain/$NAME" --data "$MIDTRAIN_DATA" --save-every "$SAVE_EVERY" $MIDTRAIN_FLAGS
    ready sft $SFT_DATA
    stage sft --model-path "midtrain/$NAME" --data "$SFT_DATA" --save-every "$SAVE_EVERY" $SFT_FLAGS
    run scripts.policy_eval "${device[@]}" --model-path "sft/$NAME" --data "$SFT_DATA"
    [ "$real_lean" = 0 ] || lean
    ready rl $RL_DATA $EVAL_DATA
    evaluate --policy solver-only
    evaluate --model-path "sft/$NAME"
    stage rl --model-path "sft/$NAME" --datasets $RL_DATA "${servers[@]}" --max-time "$RL_TIME" --save-every "$SAVE_EVERY" $RL_FLAGS
    evaluate --model-path "rl/$NAME"
}

if [ "$DRY_RUN" = 0 ] || [ "$DRY_RUN" = commands ]; then
    pipeline
else
    [ "$TINY" = 1 ] || python -m scripts.speedrun_plan "${plan[@]}"
    commands="$(pipeline)"
    echo "$commands"
    python -m scripts.check_flags <<<"$commands"
fi

#!/usr/bin/env bash
# Self-play in cycles: rounds of conjectures and proofs, then a final training of the first model on all that was found,
# from whose result the next cycle begins. What is finished is kept: the same command resumes where it was stopped.
#   MODEL=hf:FOLDER STATEMENTS=statements.json LEMMAS=lemmas.json LEAN_SERVERS=HOST:8000 bash runs/selfplay.sh
#   CYCLES=2 ROUNDS=24 SFT=mathlib.json OUT=exp ... bash runs/selfplay.sh --lora 16      other arguments go to each command
#   bash runs/selfplay.sh --tiny       a network made here, on NanoLean, to see it run
#   DRY_RUN=1 ...                      prints the commands
set -euo pipefail
cd "$(dirname "$0")/.."
: "${DRY_RUN:=0}" "${CYCLES:=2}" "${ROUNDS:=24}" "${OUT:=selfplay}" "${LEMMAS:=}" "${SFT:=}" "${LEAN_SERVERS:=}"
if [ "$DRY_RUN" = 0 ]; then bash runs/setup.sh >&2 && source .venv/bin/activate; fi

plain() {
    if [ "$DRY_RUN" != 0 ]; then printf '%q ' "$@" && echo; else echo "== $*" && "$@"; fi
}

# sft DIR WORDS...: a finetuning; its directory says whether it is finished, begun, or new. One that a signal ends has saved.
sft() {
    local dir="$1"
    shift
    [ ! -e "$dir/finished" ] || return 0
    if compgen -G "$dir/model_*.json" >/dev/null; then
        plain python -m nanoproof.sft --resume-from "$dir"
    else
        [ "$DRY_RUN" != 0 ] || rm -rf "$dir"
        plain python -m nanoproof.sft --run-dir "$dir" "$@"
    fi
    [ "$DRY_RUN" != 0 ] || [ -e "$dir/finished" ] || { echo "stopped; the same command goes on from here" >&2 && exit 130; }
}

if [ "${1:-}" = --tiny ]; then
    shift
    CYCLES=1 ROUNDS=3 OUT="${TINY_OUT:-selfplay-tiny}"
    MODEL="$OUT/network" STATEMENTS="$OUT/config.json" LEMMAS="$OUT/lemmas.json" LEAN_SERVERS=""
    mkdir -p "$OUT"
    set -- --samples-first 8 --samples 6 --statements-per-round 40 --max-tokens 64 --batch 32 --lean-processes 2 --device-type cpu "$@"
    if [ ! -e "$MODEL/finished" ]; then
        if [ ! -e "$OUT/proofs/finished" ]; then
            plain python -m nanoproof.repos trace nanolean/library --name nanolean-library --lean-processes 2
            plain python -m nanoproof.data.stp theorem-dict --data repo:nanolean-library --source nanolean/library --out "$LEMMAS"
            plain python -m nanoproof.data.stp build --data repo:nanolean-library --source nanolean/library --out "$OUT" --format nanoproof --held-out 64
            plain python -m scripts.tok_train --vocab-size 1024 --out "$OUT/tokenizer"
        fi
        sft "$OUT/proofs" --data nanolean --continuations proof --tokenizer "$OUT/tokenizer" --depth 4 --aspect-ratio 32 --head-dim 32 --sequence-len 512 --row-length 512 --target-examples-per-step 32 --epochs 1.5 --device-type cpu
        sft "$MODEL" --model-path "$OUT/proofs" --data "$OUT/train.json" --eval-data "$OUT/eval.json" --row-length 512 --target-examples-per-step 32 --init-lr-frac 0.3 --device-type cpu
    fi
    if [ "$DRY_RUN" = 0 ]; then
        python -c 'import json, sys
from nanoproof.data.theorems.theorem_sets import list_theorems
short = sorted(list_theorems("nanolean", "train"), key=lambda each: (len(each.source), each.id))
rows = [{"formal_statement": each.source, "split": "train"} for each in short[:200:2]]
json.dump(rows, open(sys.argv[1], "w"))' "$OUT/statements.json"
        echo '[{"dataset_path": "statements.json", "weight": 1}]' >"$STATEMENTS"
    fi
fi

: "${MODEL:?name the model to begin with: MODEL=hf:FOLDER}" "${STATEMENTS:?name the statements: STATEMENTS=config.json}"
given=(--dataset-config "$STATEMENTS")
[ -z "$SFT" ] || given+=(--sft "$SFT")
# shellcheck disable=SC2206  # several servers are several words
[ -z "$LEAN_SERVERS" ] || given+=(--lean-servers $LEAN_SERVERS)
playing=()
[ -z "$LEMMAS" ] || playing+=(--theorem-dict "$LEMMAS")

start="$MODEL" merged=()
for cycle in $(seq 1 "$CYCLES"); do
    plain python -m nanoproof.selfplay --model-path "$start" --exp-dir "$OUT/cycle$cycle" --rounds "$ROUNDS" "${given[@]}" ${playing[@]+"${playing[@]}"} "$@"
    plain python -m nanoproof.selfplay report "$OUT/cycle$cycle"
    merged+=("$OUT/cycle$cycle:$ROUNDS")
    plain python -m nanoproof.selfplay --final --merge "${merged[@]}" --include-conjectures --base "$MODEL" --exp-dir "$OUT/final$cycle" "${given[@]}" "$@"
    start="$OUT/final$cycle/RL_model"
    if [ "${MODEL#hf:}" != "$MODEL" ]; then
        last=$(find "$start" -maxdepth 1 -name 'checkpoint-*' 2>/dev/null | sort -V | tail -n 1 || true)
        start="hf:${last:-$start/checkpoint-LAST}"
    fi
done

#!/usr/bin/env bash
# Self-play in cycles: rounds of conjectures and proofs, then a final training of the first model on all that was found,
# from whose result the next cycle begins. What is finished is kept: the same command resumes where it was stopped.
#   MODEL=hf:FOLDER STATEMENTS=statements.json LEMMAS=lemmas.json LEAN_SERVERS=HOST:8000 bash runs/selfplay.sh
#   CYCLES=2 ROUNDS=24 SFT=mathlib.json OUT=exp ... bash runs/selfplay.sh --lora 16      other arguments go to each command
#   bash runs/selfplay.sh --tiny       a network made here, on NanoLean, to see it run: 118 steps of finetuning, three short
#                                      rounds; 69 s of processor time (26 minutes beside a load of 30) once its data are made
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

# easy_data: rows of the shortest proofs and conjectures, and statements, of which a network that saw these rows a few
# times proves some.
easy_data() {
    python - "$OUT" <<'END'
import json
import sys
from pathlib import Path

from nanoproof.data.theorems.theorem_sets import list_theorems
from nanoproof.data.weighted_rows import ASKS_FOR_CONJECTURE, Row, read_rows, write_rows
from nanoproof.policy.factory import TextModelOptions
from nanoproof.selfplay.files import Prompts
from nanoproof.selfplay.formulas import Problem
from nanoproof.training.named_data import load_proofs

out = Path(sys.argv[1])
prompts = Prompts("ours", TextModelOptions())
pairs = sorted({(each.state.strip(), each.tactic) for each in load_proofs("nanolean")[0]}, key=lambda pair: (len(pair[0]) + 2 * len(pair[1]), pair))[:1000]
problems = [Problem(state.replace("theorem", f"theorem easy_{number}", 1)) for number, (state, _) in enumerate(pairs)]
proofs = [Row(*prompts.proof(problem, proof), 1.0) for problem, (_, proof) in zip(problems, pairs)]
conjectures = [row for row in read_rows(out / "train.json") if ASKS_FOR_CONJECTURE in row.prompt]
write_rows(out / "rows.json", [*proofs, *sorted(conjectures, key=lambda row: len(row.prompt + row.target))[:250]])
generated = sorted((each.source for each in list_theorems("nanolean", "train")), key=lambda source: (len(source), source))
texts = [*(f"{problem.statement}\n  sorry" for problem in problems[10::25]), *generated[:400:20]]
rows = [{"formal_statement": text, "split": "train"} for text in texts if "Sort" not in text and "Type u" not in text]
(out / "statements.json").write_text(json.dumps(rows))
(out / "config.json").write_text('[{"dataset_path": "statements.json", "weight": 1}]')
END
}

if [ "${1:-}" = --tiny ]; then
    shift
    CYCLES=1 ROUNDS=3 OUT="${TINY_OUT:-selfplay-tiny}"
    MODEL="$OUT/network" STATEMENTS="$OUT/config.json" LEMMAS="$OUT/lemmas.json" LEAN_SERVERS=""
    mkdir -p "$OUT"
    set -- --samples-first 8 --samples 6 --statements-per-round 40 --max-tokens 64 --batch 32 --lean-processes 2 --device-type cpu "$@"
    if [ ! -e "$MODEL/finished" ]; then
        if [ ! -e "$STATEMENTS" ]; then
            plain python -m nanoproof.repos trace nanolean/library --name nanolean-library --lean-processes 2
            plain python -m nanoproof.data.stp theorem-dict --data repo:nanolean-library --source nanolean/library --out "$LEMMAS"
            plain python -m nanoproof.data.stp build --data repo:nanolean-library --source nanolean/library --out "$OUT" --format nanoproof
            plain python -m scripts.tok_train --vocab-size 1024 --out "$OUT/tokenizer"
            [ "$DRY_RUN" != 0 ] || easy_data
        fi
        sft "$MODEL" --data "$OUT/rows.json" --tokenizer "$OUT/tokenizer" --depth 4 --aspect-ratio 32 --head-dim 32 --sequence-len 512 --row-length 256 --target-examples-per-step 32 --epochs 3 --no-save-epochs --device-type cpu
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

#!/usr/bin/env bash
# The first quarter of an hour on a GPU: every path that differs from a CPU once, and one report file to send back.
#   bash runs/first_gpu_run.sh               one GPU; the report is first_gpu_run.txt (REPORT=FILE)
#   DRY_RUN=1 bash runs/first_gpu_run.sh     prints the commands and checks their flags; DRY_RUN=commands only prints
#   DEVICE=cpu bash runs/first_gpu_run.sh    runs what a CPU can and says what is left
#   ONLY='parity|benchmark' bash runs/first_gpu_run.sh    the parts whose names match, data and tokenizer always; sft
#   needs pretrain, rl and evaluations need sft
# A part that fails, or takes longer than its seconds, is noted in the report, and the next one begins.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${DRY_RUN:=0}" "${DEVICE:=cuda}" "${REPORT:=$PWD/first_gpu_run.txt}" "${ONLY:=.}"
[ "$DRY_RUN" != 0 ] || bash runs/setup.sh >&2
[ ! -e .venv/bin/activate ] || source .venv/bin/activate
if [ "$DRY_RUN" = 1 ]; then
    commands="$(DRY_RUN=commands bash runs/first_gpu_run.sh)"
    echo "$commands"
    exec python -m scripts.check_flags <<<"$commands"
fi
home="HOME"
if [ "$DRY_RUN" = 0 ]; then
    home="$(mktemp -d)"
    trap 'rm -rf "$home"' EXIT
    export NANOPROOF_HOME="$home" WANDB_MODE=disabled OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
    {
        echo "first GPU run, $(date -u +%Y-%m-%dT%H:%M:%SZ), device $DEVICE, revision $(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
        nvidia-smi 2>/dev/null || echo "no nvidia-smi"
        python -c 'import torch; print("torch", torch.__version__, "CUDA", torch.version.cuda, "devices", torch.cuda.device_count())'
    } >"$REPORT"
fi
device=(--device-type "$DEVICE")
passed=0 failed=()

# part NAME SECONDS COMMAND...: runs a command and puts the end of what it says into the report.
part() {
    local name="$1" seconds="$2" started=$SECONDS status=0 log
    shift 2
    [[ "$name" =~ $ONLY|^data$|^tokenizer$ ]] || return 0
    if [ "$DRY_RUN" != 0 ]; then printf '%q ' "$@" && echo && return; fi
    log="$home/$name.log"
    echo "== $name: $*"
    timeout --kill-after 20 "$seconds" "$@" >"$log" 2>&1 || status=$?
    { echo && echo "== $name: exit $status after $((SECONDS - started)) s: $*" && tail -n 60 "$log"; } >>"$REPORT"
    if [ "$status" = 0 ]; then passed=$((passed + 1)); else failed+=("$name ($status)"); fi
}

# gpu NAME SECONDS COMMAND...: a part that only a GPU can do.
left=()
gpu() {
    if [ "$DEVICE" = cuda ] || [ "$DRY_RUN" != 0 ]; then part "$@"; else left+=("$1"); fi
}

small=(--depth 4 --aspect-ratio 64 --head-dim 64 --sequence-len 256)
pretrain=(python -m nanoproof.pretrain "${device[@]}" --data nanolean --device-batch-size 8 --total-batch-size 4096 --num-steps 12 --eval-tokens 4096)
part doctor 60 python -m nanoproof.doctor "${device[@]}"
part parity 240 python -m benchmarks.gpu_parity "${device[@]}"
part data 300 python -m nanoproof.data.nanolean make
part tokenizer 60 python -m scripts.tok_train --vocab-size 1024
part pretrain 120 "${pretrain[@]}" "${small[@]}" --run-dir "$home/plain" --compile off
gpu pretrain-compiled 240 "${pretrain[@]}" "${small[@]}" --run-dir "$home/compiled" --compile on
gpu pretrain-fp8 240 "${pretrain[@]}" "${small[@]}" --run-dir "$home/fp8" --compile on --fp8
part sft 180 python -m nanoproof.sft "${device[@]}" --model-path "$home/plain" --run-dir "$home/first" --data nanolean --epochs 0.2 --target-examples-per-step 64 --row-length 256 --max-eval-examples 200
part rl 240 python -m nanoproof.rl "${device[@]}" --model-path "$home/first" --run-dir "$home/rl" --datasets nanolean --num-steps 2 --collect-transitions 8 --collect-max-time 0:00:30 --num-updates-per-step 1 --target-examples-per-step 32 --row-length 256 --eval-every never --no-eval-start --max-eval-theorems 8 --num-simulations-eval 8 --monitor-port none --lean-processes 4 --eval-datasets nanolean --sft-data nanolean
for graphs in on off; do
    gpu "evaluation-graphs-$graphs" 120 python -m scripts.prover_eval "${device[@]}" --model-path "$home/first" --datasets nanolean --split test --max-theorems 16 --num-simulations 16 --lean-processes 4 --engine-cuda-graphs "$graphs" --output-dir "$home/graphs-$graphs"
done
gpu evaluation-kernels-off 120 python -m scripts.prover_eval "${device[@]}" --model-path "$home/first" --datasets nanolean --split test --max-theorems 16 --num-simulations 16 --lean-processes 4 --engine-kernels off --output-dir "$home/kernels-off"
gpu benchmark-training 420 python -m benchmarks.train --device cuda
gpu benchmark-inference 180 python -m scripts.bench_inference "${device[@]}" --parts device
[ "$DRY_RUN" = 0 ] || exit 0
{
    echo
    echo "== passed $passed, failed ${#failed[@]}${failed[*]:+: ${failed[*]}}"
    [ ${#left[@]} = 0 ] || echo "== left for a GPU: ${left[*]}"
} | tee -a "$REPORT"
echo "report: $REPORT"
[ ${#failed[@]} = 0 ]

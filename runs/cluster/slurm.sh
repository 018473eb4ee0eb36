#!/usr/bin/env bash
# A run of RL whose attempts are made on the nodes of a Slurm job: the first is the learner's, the others are provers'.
#   sbatch --nodes=5 --ntasks-per-node=1 --cpus-per-task=32 runs/cluster/slurm.sh --model-path sft/RUN --num-steps 1000
# Nodes may be lost while it runs; the job ends with the learner. Give --resume-from rl/RUN to go on.
#SBATCH --job-name=nanoproof
#SBATCH --exclusive
set -euo pipefail
cd "${SLURM_SUBMIT_DIR:-.}"
source .venv/bin/activate
if [ "$#" -eq 0 ]; then
    echo "error: give the options of python -m nanoproof.rl, such as --model-path sft/RUN" >&2
    exit 2
fi
export RAY_AUTH_MODE=token
RAY_AUTH_TOKEN="${RAY_AUTH_TOKEN:-$(python -c 'import secrets; print(secrets.token_hex(32))')}"
export RAY_AUTH_TOKEN

mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head="${nodes[0]}"
address="$(srun --nodes=1 --ntasks=1 -w "$head" hostname --ip-address | awk '{print $1}')"
port=6379
cpus="${SLURM_CPUS_PER_TASK:-8}"

srun --overlap --nodes=1 --ntasks=1 -w "$head" \
    ray start --head --node-ip-address="$address" --port="$port" --num-cpus=0 --include-dashboard=false --block &
for _ in $(seq 60); do
    ray status --address="$address:$port" > /dev/null 2>&1 && break
    sleep 2
done
for node in "${nodes[@]:1}"; do
    srun --overlap --nodes=1 --ntasks=1 -w "$node" ray start --address="$address:$port" --num-cpus="$cpus" --block &
done
srun --overlap --nodes=1 --ntasks=1 -w "$head" \
    python -m nanoproof.rl --cluster "$address:$port" --prover-cpus "$cpus" "$@"

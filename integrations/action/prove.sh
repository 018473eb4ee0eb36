#!/usr/bin/env bash
# Tries the sorries of the Lean files in $PROJECT that changed since $BASE (of all, if that is empty).
# Leaves $RUNNER_TEMP/nanoproof/proofs.patch, and report/ with a folder for each file. Sorries that are left are no failure.
set -euo pipefail
fail() { echo "::error::$1"; exit 2; }

out="$RUNNER_TEMP/nanoproof"
patch="$out/proofs.patch"
mkdir -p "$out/report"
: > "$patch"
printf 'patch=%s\nreport=%s\n' "$patch" "$out/report" >> "$GITHUB_OUTPUT"
# In an arithmetic expression bash runs what stands in a subscript, so that a number has to be one before it gets there.
[[ "$MINUTES" =~ ^[1-9][0-9]{0,4}$ ]] || fail "minutes: a whole number from 1 is needed, not '$MINUTES'"
case "$LEAN" in project | nanolean) ;; *) fail "lean: project or nanolean is needed, not '$LEAN'" ;; esac
cd "$PROJECT" || fail "project: there is no folder '$PROJECT'"

files=()
if [ -z "$BASE" ]; then
    files=(.)
else
    git rev-parse --quiet --verify --end-of-options "$BASE^{commit}" > /dev/null \
        || fail "base: commit '$BASE' is not in the checkout; give actions/checkout 'fetch-depth: 0'"
    start="$(git merge-base "$BASE" HEAD)" || fail "base: '$BASE' and HEAD have no common commit in the checkout; give actions/checkout 'fetch-depth: 0'"
    while IFS= read -r -d '' file; do
        files+=("./$file")
    done < <(git diff --name-only -z --relative --diff-filter=d "$start" HEAD -- '*.lean')
fi
if [ "${#files[@]}" = 0 ]; then
    echo "no Lean file has changed since $BASE"
    exit 0
fi

words=(--num-simulations "$SIMULATIONS")
if [ -n "$MODEL" ]; then words+=(--model-path "$MODEL"); else words+=(--policy solver-only); fi
if [ "$LEAN" = project ]; then
    # Whoever has the token can run code as this user; it ends with the server.
    NANOPROOF_LEAN_TOKEN="$(python -c 'import secrets; print(secrets.token_urlsafe(32))')"
    export NANOPROOF_LEAN_TOKEN
    log="$out/lean-server.log"
    # shellcheck disable=SC2086  # several modules
    PATH="$HOME/.elan/bin:$PATH" python -m nanoproof.lean.server --project-path "$PWD" \
        --repl-exe "$RUNNER_TEMP/repl/.lake/build/bin/repl" --imports $IMPORTS --port 0 --max-processes 3 --warmup > "$log" 2>&1 &
    server=$!
    trap 'kill "$server" 2> /dev/null || true' EXIT
    until grep -q "listening on" "$log"; do
        kill -0 "$server" 2> /dev/null || { cat "$log"; fail "the Lean server has not started"; }
        [ "$SECONDS" -lt 1800 ] || fail "the Lean server has not started within 30 minutes"
        sleep 1
    done
    words+=(--lean-servers "127.0.0.1:$(sed -n 's/.*listening on [^ ]*:\([0-9]*\).*/\1/p' "$log" | head -n 1)")
fi

# What Lean and the files say is text: no line of it is a command to the runner.
stop="$(python -c 'import secrets; print(secrets.token_hex(16))')"
echo "::stop-commands::$stop"
deadline=$((SECONDS + 60 * MINUTES))
worst=0
for file in "${files[@]}"; do
    left=$(((deadline - SECONDS) / 60))
    if [ "$SECONDS" -ge "$deadline" ]; then
        echo "$file: no time is left" | tee -a "$out/summary.txt"
        continue
    fi
    file_patch="$RUNNER_TEMP/file.patch"
    rm -f "$file_patch"
    status=0
    python -m nanoproof.repos prove "$file" "${words[@]}" --minutes "$((left > 0 ? left : 1))" --report "$out/report/$file" --patch "$file_patch" 2>&1 \
        | tee -a "$out/summary.txt" || status=$?
    [ "$status" -le "$worst" ] || worst=$status
    if [ -s "$file_patch" ]; then cat "$file_patch" >> "$patch"; fi
done
echo "::$stop::"
# Indented by four it is shown as it is, whatever it has of Markdown.
{ echo "### nanoproof"; echo; sed 's/^/    /' "$out/summary.txt"; } >> "$GITHUB_STEP_SUMMARY"
[ "$worst" -le 1 ] || fail "nanoproof ended with exit code $worst; what it said is above"

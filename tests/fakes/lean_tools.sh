# Stand-ins for elan, lake, git and curl: they note how they are called, leave the files that the real ones leave, and
# fail or hang on cue. Their scripts source this file. In shell, as each test starts a dozen of them.
#
# A line of FAKE_FAIL is `words|deed`, the first words of a call and what it should do: a text to print before it ends
# with status 1, or "hang", or "nothing" (end well without doing anything).

call="${0##*/} $*"
printf '%s\n' "$call" >> "$FAKE_LOG"

make() { # a file, with the folders above it
    mkdir -p "${1%/*}"
    printf %s "${2:-}" > "$1"
}

while IFS='|' read -r start deed; do
    case $call in
    "${start:-no cue}"*) ;;
    *) continue ;;
    esac
    case $deed in
    hang)
        printf %s $$ > "${FAKE_LOG%.*}.pid"
        echo "at it"
        exec sleep 600
        ;;
    nothing) exit 0 ;;
    *)
        printf '%s\n' "$deed" >&2
        exit 1
        ;;
    esac
done << CUES
${FAKE_FAIL:-}
CUES

case $call in
"lake --version")
    read -r toolchain < lean-toolchain || :
    make "$ELAN_HOME/toolchains/leanprover--lean4---${toolchain#*:}/bin/lean"
    ;;
"lake update")
    make ./lake-manifest.json '{}'
    [ -z "${FAKE_UPDATED_TOOLCHAIN:-}" ] || make ./lean-toolchain "$FAKE_UPDATED_TOOLCHAIN"
    ;;
"lake exe cache get") make .lake/packages/mathlib/.lake/build/lib/Mathlib.olean ;;
"lake build") make .lake/build/lib/lean/LeanServers.olean ;;
"lake build repl")
    make .lake/build/bin/repl '#!/bin/sh
'
    chmod +x .lake/build/bin/repl
    ;;
"lake env "*) printf '%s\n' "${FAKE_ANSWER-{\"env\": 0\}}" ;;
"git clone "*" --branch "*)
    while [ "$1" != --branch ]; do shift; done
    lean=$2
    case $3 in */lean-repl) lean=v4.19.0 ;; esac
    make "$4/lean-toolchain" "${FAKE_REPL_TOOLCHAIN:-leanprover/lean4:$lean}"
    ;;
"curl "*" -o "*)
    while [ "$1" != -o ]; do shift; done
    make "$2" "mkdir -p $ELAN_HOME/bin && cp $FAKE_LAKE $ELAN_HOME/bin/elan && cp $FAKE_LAKE $ELAN_HOME/bin/lake
"
    ;;
*)
    echo "unexpected call: $call" >&2
    exit 1
    ;;
esac

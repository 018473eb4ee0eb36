"""Completion of the command `nanoproof` in bash and zsh: commands at once, flags as each command itself lists them."""

from collections.abc import Iterable

from nanoproof.common.errors import UserError

SHELLS = ("bash", "zsh")
# A command takes up to a second to say its flags: each is asked once in a shell.
SCRIPT = r"""
_nanoproof() {
    local word="${COMP_WORDS[COMP_CWORD]}" name="${COMP_WORDS[1]}" part="${COMP_WORDS[2]:-}" kept help
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "@NAMES@ completion" -- "$word"))
        return
    fi
    case "$part" in
        "" | -* | *[!a-z-]*) part="" ;;  # no part of the command (as prove of repos prove), but a flag or a file
    esac
    [ "$COMP_CWORD" -gt 2 ] || part=""
    kept="_nanoproof_$(printf '%s' "${name}_$part" | tr -c 'a-zA-Z0-9' '_')"
    eval "help=\${$kept:-}"
    if [ -z "$help" ]; then
        help="$(nanoproof "$name" ${part:+"$part"} --help-all 2>/dev/null)" \
            || help="$(nanoproof "$name" ${part:+"$part"} --help 2>/dev/null)"
        help="$(printf '%s\n' "$help" | sed -nE -e 's/^ +(-[a-zA-Z][^-]*, )?(--[a-z0-9-]+).*/\2/p' \
            -e 's/^ +\{([a-z,-]+)\}$/\1/p' | tr ',\n' '  ') "
        eval "$kept=\$help"
    fi
    COMPREPLY=($(compgen -W "$help" -- "$word"))
}
complete -o default -F _nanoproof nanoproof
"""
ZSH = "autoload -U +X compinit bashcompinit && compinit -u && bashcompinit\n"


def completion(words: list[str], names: Iterable[str]) -> str:
    """Return what `nanoproof completion bash` prints, for `eval`. Raises UserError for other shells."""
    if len(words) != 1 or words[0] not in SHELLS:
        raise UserError('completion is for bash or zsh: eval "$(nanoproof completion bash)" in ~/.bashrc')
    script = SCRIPT.replace("@NAMES@", " ".join(names)).lstrip()
    return script if words[0] == "bash" else ZSH + script

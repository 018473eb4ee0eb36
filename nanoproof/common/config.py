"""Configuration: frozen dataclasses that are also command-line flags.

Every option is declared once, as a dataclass field made by `opt(default, "One sentence.", ...)`. `add_flags` turns a
dataclass into argparse flags, `from_args` turns the parsed arguments back into a validated instance, and `check` is
what `__post_init__` methods use for rules that need more than one field.

A dataclass may name sets of values, `PRESETS: ClassVar[Presets] = {"default": {}, "fast": {"steps": 3}}`, which become
one more flag, `--<prefix>preset`. What a preset does not name has its default there.
"""

import argparse
import dataclasses
import re
import sys
import types
import typing
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin

from nanoproof.common.errors import UserError, say_error

T = TypeVar("T")
Presets = Mapping[str, Mapping[str, Any]]
_MISSING = object()


def opt(
    default: Any = dataclasses.MISSING,
    help: str = "",
    *,
    min: float | None = None,
    max: float | None = None,
    above: float | None = None,
    choices: Sequence[Any] | None = None,
    metavar: str | None = None,
) -> Any:
    """A dataclass field with a sentence of help and the range of values it accepts.

    `min` and `max` are inclusive bounds, `above` an exclusive lower bound. Options that take several values are
    declared with a tuple as their default.
    """
    metadata = {"help": help, "min": min, "max": max, "above": above, "choices": choices, "metavar": metavar}
    return dataclasses.field(default=default, metadata=metadata)


def check(condition: bool, message: str) -> None:
    """Raise `ValueError(message)` unless the condition holds; for options that a user chose."""
    if not condition:
        raise ValueError(message)


def validate(config: Any, section: str) -> None:
    """Check every field of `config` against the range declared with `opt`; call it first in `__post_init__`.

    Raises ValueError such as "search.num_simulations must be >= 1, got 0".
    """
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if value is None or (isinstance(value, (bool, str)) and field.metadata.get("choices") is None):
            continue
        rule, name = field.metadata, f"{section}.{field.name}"
        if rule.get("choices") is not None:
            allowed = ", ".join(str(choice) for choice in rule["choices"])
            for item in value if isinstance(value, tuple) else (value,):
                check(item in rule["choices"], f"{name} must be one of {allowed}; got {item}")
        if isinstance(value, (int, float)):
            check(value == value, f"{name} must be a number, got nan")
            if rule.get("min") is not None:
                check(value >= rule["min"], f"{name} must be >= {rule['min']}, got {value}")
            if rule.get("max") is not None:
                check(value <= rule["max"], f"{name} must be <= {rule['max']}, got {value}")
            if rule.get("above") is not None:
                check(value > rule["above"], f"{name} must be > {rule['above']}, got {value}")


def preset_values(cls: type, name: str) -> dict[str, Any]:
    """The values of every field that some preset of the dataclass `cls` names; ValueError for an unknown preset."""
    presets: Presets = cls.PRESETS  # type: ignore[attr-defined]
    check(name in presets, f"preset must be one of {', '.join(presets)}; got {name}")
    defaults = {field.name: field.default for field in dataclasses.fields(cls)}
    named = dict.fromkeys(field for values in presets.values() for field in values)
    return {field: presets[name].get(field, defaults[field]) for field in named}


class Parser(argparse.ArgumentParser):
    """argparse without abbreviations, with one-line errors (exit code 2), with presets, and with other ways to write.

    A preset that is on the command line sets the options it names, wherever it stands, except for those that are on the
    command line themselves. So the parsed arguments always hold the values that count.

    Flags may have underscores for dashes, switches a value (`--augment_data=False`), and those of `add_earlier` are
    understood.
    """

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", argparse.ArgumentDefaultsHelpFormatter)
        super().__init__(allow_abbrev=False, **kwargs)
        self._presets: dict[str, dict[str, dict[str, Any]]] = {}  # destination -> preset -> option -> value
        self._earlier: dict[str, str] = {}

    def add_earlier(self, flags: Mapping[str, str]) -> None:
        """Flags that users know from earlier versions: `{"--jobs": "--workers"}` is read as its successor.

        One without a successor has a sentence in its place, with which the command ends.
        """
        self._earlier |= flags

    def add_presets(self, group: argparse._ArgumentGroup, cls: type, prefix: str, skip: Collection[str]) -> None:
        """Add the flag `--<prefix>preset` for the presets of the dataclass `cls`."""
        names = list(cls.PRESETS)  # type: ignore[attr-defined]
        help_text = "Set of values to start from; flags that are given win."
        action = group.add_argument(f"--{prefix}preset", choices=names, default=names[0], help=help_text)
        self._presets[action.dest] = {
            name: {
                (prefix + field).replace("-", "_"): value
                for field, value in preset_values(cls, name).items()
                if field not in skip
            }
            for name in names
        }

    def add_preset_flag(self, flag: str, presets: Presets, help_text: str) -> None:
        """Add a flag for presets that reach over several groups: {preset: {option: value}}, by destinations.

        A preset of a single group, given as well, wins over it.
        """
        action = self.add_argument(flag, choices=list(presets), default=next(iter(presets)), help=help_text)
        self._presets = {action.dest: {name: dict(values) for name, values in presets.items()}, **self._presets}

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, then put in the values of the presets that were given."""
        args = self._as_written_now(sys.argv[1:] if args is None else args)
        parsed, rest = super().parse_known_args(args, namespace)
        if self._presets:
            destinations = [*self._presets, *(name for p in self._presets.values() for v in p.values() for name in v)]
            blank = argparse.Namespace(**dict.fromkeys(destinations, _MISSING))
            given = vars(super().parse_known_args(args, blank)[0])
            for destination, presets in self._presets.items():
                for name, value in presets.get(given[destination], {}).items():
                    if given[name] is _MISSING:
                        setattr(parsed, name, value)
        return parsed, rest

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; what is left over ends the command, `key=value` with the flag to write instead."""
        parsed, rest = self.parse_known_args(args, namespace)
        for word in rest:
            key, equals, value = word.partition("=")
            if equals and re.fullmatch(r"[a-z]\w*", key):
                flag = self._successor("--" + key, word)
                if flag in self._option_string_actions:
                    self.error(f"{word}: options are flags here; write {flag} {value}")
        if rest:
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return parsed

    def _as_written_now(self, words: Sequence[str]) -> list[str]:
        """The command line with flags by the names that this parser knows, and switches without values."""
        end = list(words).index("--") if "--" in words else len(words)
        found = []
        for word in words[:end]:
            flag, equals, value = word.partition("=")
            if flag.startswith("--"):
                flag = self._successor(flag, flag)
                action = self._option_string_actions.get(flag)
                if equals and isinstance(action, argparse.BooleanOptionalAction):
                    flag, equals, value = self._switch(action, flag, value), "", ""
            found.append(flag + equals + value)
        return [*found, *words[end:]]

    def _successor(self, flag: str, word: str) -> str:
        """The flag that a flag is read as; ends the command if it is an earlier one without a successor."""
        if flag in self._option_string_actions:
            return flag
        dashed = flag.replace("_", "-")
        now = self._earlier.get(dashed, dashed)
        if not now.startswith("--"):
            self.error(f"{word}: {now}")
        return now if now in self._option_string_actions else flag

    def _switch(self, action: argparse.Action, flag: str, value: str) -> str:
        """`--x` or `--no-x`, for a switch that was given by either with a value."""
        positive, negative = action.option_strings
        try:
            return positive if _boolean(value) == (flag == positive) else negative
        except argparse.ArgumentTypeError as error:
            self.error(f"argument {flag}: {error}")

    def error(self, message: str) -> NoReturn:
        say_error(f"{message} (see {self.prog} --help)")
        sys.exit(2)


def _boolean(text: str) -> bool:
    lowered = text.lower()
    if lowered in ("1", "true", "yes", "on"):
        return True
    if lowered in ("0", "false", "no", "off"):
        return False
    raise argparse.ArgumentTypeError(f"expected true or false, got {text!r}")


def _optional(parse: Any) -> Any:
    def parse_optional(text: str) -> Any:
        return None if text.lower() == "none" else parse(text)

    parse_optional.__name__ = f"{getattr(parse, '__name__', 'value')} or none"
    return parse_optional


def _flag_kwargs(annotation: Any) -> dict[str, Any]:
    """argparse keyword arguments for a field's type."""
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        members = [member for member in get_args(annotation) if member is not type(None)]
        inner = _flag_kwargs(members[0])
        return (
            {**inner, "type": _optional(inner.get("type", str))}
            if "action" not in inner
            else {"type": _optional(_boolean)}
        )
    if origin is Literal:
        choices = get_args(annotation)
        return {"type": type(choices[0]), "choices": list(choices)}
    if origin is tuple:
        return {"nargs": "+", "type": get_args(annotation)[0]}
    if annotation is bool:
        return {"action": argparse.BooleanOptionalAction}
    return {"type": annotation}


def add_flags(
    parser: argparse.ArgumentParser, cls: type, prefix: str = "", skip: Collection[str] = (), title: str = ""
) -> None:
    """Add one flag for each field of the dataclass `cls`: `--<prefix>field-name`.

    Booleans become `--x / --no-x`, `X | None` accepts "none", `tuple[X, ...]` takes several values, `Literal` has
    choices. A dataclass with `PRESETS` needs a `Parser`, and gets the flag `--<prefix>preset`.
    """
    group = parser.add_argument_group(title or (cls.__doc__ or cls.__name__).strip().splitlines()[0])
    if hasattr(cls, "PRESETS"):
        assert isinstance(parser, Parser), "presets need a Parser"
        parser.add_presets(group, cls, prefix, skip)
    hints = typing.get_type_hints(cls)
    for field in dataclasses.fields(cls):
        if field.name in skip:
            continue
        kwargs = _flag_kwargs(hints[field.name])
        if field.default is not dataclasses.MISSING:
            kwargs["default"] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            kwargs["default"] = field.default_factory()
        else:
            kwargs["required"] = True
        if field.metadata.get("choices") is not None and "action" not in kwargs:
            kwargs["choices"] = list(field.metadata["choices"])
        if field.metadata.get("metavar") is not None:
            kwargs["metavar"] = field.metadata["metavar"]
        help_text = field.metadata.get("help", "").replace("%", "%%")
        group.add_argument("--" + (prefix + field.name).replace("_", "-"), help=help_text or None, **kwargs)


def from_args(cls: type[T], args: argparse.Namespace, prefix: str = "", **overrides: Any) -> T:
    """Build `cls` from parsed arguments; `overrides` win. A ValueError of its validation becomes a `UserError`."""
    values = {}
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        name = (prefix + field.name).replace("-", "_")
        if field.name in overrides:
            values[field.name] = overrides[field.name]
        elif hasattr(args, name):
            value = getattr(args, name)
            values[field.name] = tuple(value) if isinstance(value, list) else value
    try:
        return cls(**values)
    except ValueError as error:
        raise UserError(str(error)) from error


def to_dict(config: Any) -> dict[str, Any]:
    """A dataclass as plain JSON data (tuples become lists)."""
    return {
        key: list(value) if isinstance(value, tuple) else value for key, value in dataclasses.asdict(config).items()
    }

"""Configuration: frozen dataclasses that are also command-line flags.

Every option is declared once, as a field made by `opt(default, "One sentence.", ...)` of a class that is
`@validated("section")`, the name by which errors call it. `add_flags` turns a
dataclass into argparse flags, `from_args` turns the parsed arguments back into a validated instance, and `check` is
what `__post_init__` methods use for rules that need more than one field.

Options that several commands have are declared in a dataclass of their own, which others hold: `lean: LeanServerOptions
= group(LeanServerOptions)`. Its flags are among those of the one that holds it. What differs there, such as a default
or a sentence of help, is given to `group`: `group(LeanServerOptions, prefix="lean-", servers=change(help="..."))`.

`--help` shows what one changes on a normal day, `--help-all` also the options that are declared `advanced`.

A dataclass may name sets of values, `PRESETS: ClassVar[Presets] = {"default": {}, "fast": {"steps": 3}}`, which become
one more flag, `--<prefix>preset`. What a preset does not name has its default there.
"""

import argparse
import dataclasses
import difflib
import os
import re
import sys
import textwrap
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NoReturn, TypeVar, Union, dataclass_transform, get_args, get_origin

from nanoproof.common.errors import UserError, did_you_mean, report_error
from nanoproof.common.retired import is_retired_flag
from nanoproof.common.run_dir import SCRIPTS
from nanoproof.common.terminal import HelpFormatter

T = TypeVar("T")
Presets = Mapping[str, Mapping[str, Any]]
Given = Sequence[str] | Mapping[str, Any] | None
"""What a command is given: its command line (None: the process's), or from Python the values of options by name."""
MOST_SEED = 2**31 - 1
"""numpy's seeds have 32 bits, and each rank adds its number."""
_MISSING = object()


class ConfigError(ValueError):
    """An option has an invalid value. The message names options as `section.field`."""

    def __init__(self, message: str, section: str) -> None:
        super().__init__(message)
        self.section = section

    def with_flags(self, flags: Mapping[str, str]) -> str:
        """Return the message with `section.field` replaced by the flag that `flags` has for the field."""
        return re.sub(
            rf"(?<![\w.]){re.escape(self.section)}\.([a-z]\w*(?:\.[a-z]\w*)*)",
            lambda match: flags.get(match[1], match[0]),
            str(self),
        )


def opt(
    default: Any = dataclasses.MISSING,
    help: str = "",
    *,
    min: float | None = None,
    max: float | None = None,
    above: float | None = None,
    choices: Sequence[Any] | None = None,
    metavar: str | None = None,
    advanced: bool = False,
    constant: bool = False,
    action: type[argparse.Action] | None = None,
    also: Sequence[str] = (),
) -> Any:
    """Declare a dataclass field as an option, with a sentence of help and the range of values it accepts.

    `min` and `max` are inclusive bounds, `above` an exclusive lower bound. Options that take several values are
    declared with a tuple as their default. `advanced` options are shown by `--help-all` only, `constant` ones there by
    name alone: formulas and presets set them, the docs explain them. An option that is written in a way of its own has
    an argparse `action`, and `also` more flags.
    """
    return dataclasses.field(
        default=default,
        metadata={
            **{"help": help, "min": min, "max": max, "above": above, "choices": choices, "metavar": metavar},
            **{"advanced": advanced, "constant": constant, "action": action, "also": also},
        },
    )


def change(default: Any = _MISSING, **changed: Any) -> dict[str, Any]:
    """Override the default of an option where its group is used, or what else `opt` takes by name."""
    return changed if default is _MISSING else {"default": default, **changed}


@dataclass(frozen=True)
class Group:
    """An options class within another one: the prefix of its flags, the options left out, and those that differ."""

    cls: type
    prefix: str
    without: frozenset[str]
    changes: Mapping[str, Mapping[str, Any]]

    @property
    def defaults(self) -> dict[str, Any]:
        """The defaults that differ, by field."""
        return {name: changed["default"] for name, changed in self.changes.items() if "default" in changed}

    def make(self) -> Any:
        """Construct the options class with the defaults of this group."""
        return self.cls(**self.defaults)


def group(cls: type[T], prefix: str = "", without: Collection[str] = (), **changes: Mapping[str, Any]) -> T:
    """Declare a dataclass field that holds the options class `cls`, whose flags begin with `prefix`.

    `without` are options that this command does not offer, which keep their defaults; `changes` override what is
    declared for a field (see `change`).
    """
    names = {field.name for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    assert names >= {*without, *changes}, f"{cls.__name__} has no {', '.join({*without, *changes} - names)}"
    declared = Group(cls, prefix, frozenset(without), changes)
    return dataclasses.field(default_factory=declared.make, metadata={"group": declared})


@dataclass(frozen=True)
class Option:
    """One flag of an options class, with the overrides of the group that it is part of."""

    path: str
    """The fields that lead to it, such as `lean.servers`."""
    flag: str
    dest: str
    annotation: Any
    default: Any
    rule: Mapping[str, Any]


def options_of(cls: type, prefix: str = "", skip: Collection[str] = ()) -> list[Option]:
    """List the options of a dataclass, those of its groups included, in the order of their declaration."""
    return list(_options(cls, prefix, skip, {}, ""))


def _options(
    cls: type, prefix: str, skip: Collection[str], changes: Mapping[str, Mapping[str, Any]], path: str
) -> Iterator[Option]:
    hints = typing.get_type_hints(cls)
    for field in dataclasses.fields(cls):
        inner: Group | None = field.metadata.get("group")
        if inner is not None:
            yield from _options(inner.cls, prefix + inner.prefix, inner.without, inner.changes, f"{path}{field.name}.")
        elif field.name not in skip and "help" in field.metadata:
            changed = changes.get(field.name, {})
            default = changed.get("default", field.default)
            dest = (prefix + field.name).replace("-", "_")
            flag = "--" + dest.rstrip("_").replace("_", "-")
            rule = {**field.metadata, **changed}
            yield Option(path + field.name, flag, dest, hints[field.name], default, rule)


def check(condition: bool, message: str, section: str = "") -> None:
    """Raise `ConfigError(message)` unless the condition holds; for options that a user chose.

    A message may name options as `section.field`; `from_args` replaces such names by the flags.
    """
    if not condition:
        raise ConfigError(message, section)


@dataclass_transform(frozen_default=True)
def validated(section: str) -> Callable[[type[T]], type[T]]:
    """Make a class a frozen dataclass whose fields are checked against the ranges that `opt` declares.

    Of groups only the options that `group` changes are checked, as their own validation has checked the rest; then
    comes the class's own `__post_init__`. Raises ConfigError such as "search.num_simulations must be >= 1, got 0".
    """

    def decorate(cls: type[T]) -> type[T]:
        own = getattr(cls, "__post_init__", None)

        def check_fields(self: Any) -> None:
            for field in dataclasses.fields(self):
                value, inner = getattr(self, field.name), field.metadata.get("group")
                name = f"{section}.{field.name}"
                if inner is not None:
                    for option, changed in inner.changes.items():
                        _check_value(getattr(value, option), changed, f"{name}.{option}", section)
                    continue
                # `--run-dir "$DIR"` with no DIR: as a path it would be the home of all runs, or the working directory.
                check(field.default is not None or value != "", f"{name} must not be empty", section)
                is_of_type = "help" not in field.metadata or _is_of_type(value, field.type)
                check(is_of_type, f"{name} has a value of another type: {value!r}", section)
                _check_value(value, field.metadata, name, section)
            if own is not None:
                own(self)

        cls.__post_init__ = check_fields  # type: ignore[attr-defined]
        return dataclass(frozen=True)(cls)

    return decorate


def _is_of_type(value: Any, annotation: Any) -> bool:
    """Tell whether a value may be one of an option: those of a run's `args.json`, or given from Python, may be any."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return any(_is_of_type(value, member) for member in inner)
    if origin is tuple:
        return isinstance(value, tuple | list) and all(_is_of_type(item, inner[0]) for item in value)
    if not isinstance(annotation, type):
        return True
    kinds = {float: (int, float), str: (str, os.PathLike)}.get(annotation, (annotation,))
    # To Python true and false are numbers.
    return isinstance(value, kinds) and (annotation is bool or not isinstance(value, bool))


def _check_value(value: Any, rule: Mapping[str, Any], name: str, section: str) -> None:
    """Raise ConfigError if a value is out of the range of an option."""
    if value is None or (isinstance(value, (bool, str)) and rule.get("choices") is None):
        return
    if rule.get("choices") is not None:
        allowed = ", ".join(str(choice) for choice in rule["choices"])
        for item in value if isinstance(value, tuple) else (value,):
            check(item in rule["choices"], f"{name} must be one of {allowed}; got {item}", section)
    if isinstance(value, (int, float)):
        # nan passes every comparison below by failing it. Infinite, a learning rate makes all weights nan, a weight of
        # the loss the loss, and a time limit overflows the system's calls.
        check(abs(value) < float("inf"), f"{name} must be a number, got {value}", section)
        if rule.get("min") is not None:
            check(value >= rule["min"], f"{name} must be >= {rule['min']}, got {value}", section)
        if rule.get("max") is not None:
            check(value <= rule["max"], f"{name} must be <= {rule['max']}, got {value}", section)
        if rule.get("above") is not None:
            check(value > rule["above"], f"{name} must be > {rule['above']}, got {value}", section)
        check(abs(value) < 2**63, f"{name} must be less than 2^63, got {str(value)[:40]}", section)


def preset_values(cls: type, name: str) -> dict[str, Any]:
    """Return the preset's value of every field that some preset of the dataclass `cls` names.

    Fields that this preset does not name have their default. Raises ConfigError for an unknown preset.
    """
    presets: Presets = cls.PRESETS  # type: ignore[attr-defined]
    check(name in presets, f"preset must be one of {', '.join(presets)}; got {name}")
    defaults = {field.name: field.default for field in dataclasses.fields(cls)}
    named = dict.fromkeys(field for values in presets.values() for field in values)
    return {field: presets[name].get(field, defaults[field]) for field in named}


class _HelpAll(argparse.Action):
    """`--help-all`: print the whole page and exit."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        parser._print_message(parser.format_help_all(), sys.stdout)
        parser.exit()


class Parser(argparse.ArgumentParser):
    """argparse without abbreviations, with one-line errors (exit code 2), presets and aliases of flags.

    Errors name the nearest flag or choice. `--help` leaves out what is declared `advanced`, `--help-all` shows it.

    A preset that is on the command line sets the options it names, wherever it stands, except for those that are on the
    command line themselves. So the parsed arguments always hold the values that count.

    Flags may have underscores for dashes, switches a value (`--augment_data=False`), and those of `add_earlier` are
    understood.
    """

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", HelpFormatter)
        prog = kwargs.pop("prog", None)
        # Without abbreviations, as a new flag would change what an old command line means.
        super().__init__(prog=prog and prog.replace("python -m scripts.", SCRIPTS), allow_abbrev=False, **kwargs)
        self._presets: dict[str, dict[str, dict[str, Any]]] = {}  # destination -> preset -> option -> value
        self._earlier: dict[str, str] = {}
        self._advanced: list[argparse.Action] = []
        self.add_argument("--help-all", action=_HelpAll, help="Show all options and exit.")

    def add_advanced(self, action: argparse.Action) -> None:
        """Show an option with `--help-all` only."""
        self._advanced.append(action)

    def format_help(self) -> str:
        """Format the page of `--help`; its last line tells how many options it leaves out."""
        if not self._advanced:
            return super().format_help()
        # argparse hides an option by its help alone, so their texts are away while the page is formatted.
        kept = [action.help for action in self._advanced]
        for action in self._advanced:
            action.help = argparse.SUPPRESS
        try:
            page = super().format_help()
        finally:
            for action, text in zip(self._advanced, kept, strict=True):
                action.help = text
        return f"{page}\n{len(kept)} more options are rarely changed: --help-all shows them too.\n"

    def format_help_all(self) -> str:
        """Format the page of `--help-all`: all options, and last the names of those that are constants."""
        page = super().format_help()
        names: list[str] = []
        for action in self._actions:
            if action.help == argparse.SUPPRESS:
                names += action.option_strings
        if names:
            pages = "docs/search.md, rl.md, ttrl.md, trainers.md and evaluation.md"
            text = f"Constants, explained in {pages}: {', '.join(names)}"
            page += "\n" + textwrap.fill(text, 79, break_on_hyphens=False) + "\n"
        return page

    def add_earlier(self, flags: Mapping[str, str]) -> None:
        """Accept flags of earlier versions: with `{"--jobs": "--workers"}` the first is read as the second.

        A flag without a successor is mapped to a sentence, with which the command ends.
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
        """Add a flag for presets of several groups of options: `{preset: {destination: value}}`.

        A preset of a single group, given as well, wins over it.
        """
        action = self.add_argument(flag, choices=list(presets), default=next(iter(presets)), help=help_text)
        self._presets = {action.dest: {name: dict(values) for name, values in presets.items()}, **self._presets}

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the flags that are known, and set the options of the presets that were given."""
        if isinstance(args, Mapping):
            return self._with_values(args, namespace), []
        if args is None:
            args = sys.argv[1:]
        args = self._as_written_now(args)
        parsed, rest = super().parse_known_args(args, namespace)
        if self._presets:
            destinations = [*self._presets, *(name for p in self._presets.values() for v in p.values() for name in v)]
            # argparse does not say which values were typed and which are defaults: it is read a second time, into
            # a namespace whose values are no defaults. What is still blank afterwards was not on the command line.
            blank = argparse.Namespace(**dict.fromkeys(destinations, _MISSING))
            given = vars(super().parse_known_args(args, blank)[0])
            for destination, presets in self._presets.items():
                for name, value in presets.get(given[destination], {}).items():
                    if given[name] is _MISSING:
                        setattr(parsed, name, value)
        return parsed, rest

    def _with_values(self, values: Mapping[str, Any], namespace: Any) -> argparse.Namespace:
        """Return what parsing gives where options have these values, and the others their defaults."""
        parsed, _ = super().parse_known_args([], namespace)
        for name, value in values.items():
            assert name in parsed and name not in self._presets, f"{self.prog} has no option {name}"
            setattr(parsed, name, value)
        return parsed

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the command line; unknown arguments end the command, `key=value` with the flag to write instead."""
        parsed, rest = self.parse_known_args(args, namespace)
        for word in rest:
            key, equals, value = word.partition("=")
            if equals and re.fullmatch(r"[a-z]\w*", key):
                flag = self._successor("--" + key, word)
                if flag in self._option_string_actions:
                    self.error(f"{word}: options are flags here; write {flag} {value}")
        if rest:
            chosen = self._chosen(parsed)
            chosen[-1].error(f"unrecognized arguments: {' '.join(rest)}{self._meant(rest, chosen)}")
        return parsed

    def _meant(self, arguments: Iterable[str], chosen: Sequence[argparse.ArgumentParser]) -> str:
        """Ask for the flag of the `chosen` command that is nearest to the first unknown one; empty if none is near.

        A flag that another command of this program has is said to be that command's.
        """
        known = {flag for parser in chosen for flag in parser._option_string_actions}
        for word in arguments:
            if word.startswith("--"):
                typed = word.partition("=")[0].replace("_", "-")
                owners = [name for name, parser in self._commands() if typed in parser._option_string_actions]
                if owners:
                    return f"; {typed} is a flag of {' and '.join(owners)}"
                near = difflib.get_close_matches(typed, sorted(known - {typed}), n=1, cutoff=0.75)
                return "".join(f"; did you mean {flag}?" for flag in near)
        return ""

    def _commands(self) -> list[tuple[str, argparse.ArgumentParser]]:
        """Return the commands that this program has, by name, with their parsers."""
        nested = [action for action in self._actions if isinstance(action, argparse._SubParsersAction)]
        return [(name, parser) for action in nested for name, parser in action.choices.items()]

    def _chosen(self, parsed: argparse.Namespace) -> list[argparse.ArgumentParser]:
        """Return this parser, and that of the command that was named on the command line."""
        nested = [action for action in self._actions if isinstance(action, argparse._SubParsersAction)]
        names = [getattr(parsed, action.dest, None) for action in nested]
        chosen = [parser for name, parser in self._commands() if name in names]
        if not chosen:  # subparsers that were made without a `dest` leave no trace of what was named
            chosen = [parser for _, parser in self._commands()]
        return [self, *chosen]

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise ArgumentError for what is none of the choices, with the nearest of them."""
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            choices = [str(choice) for choice in action.choices or () if str(choice) != value]
            if error.message is not None:
                error.message += did_you_mean(str(value), choices)
            raise

    def _as_written_now(self, arguments: Sequence[str]) -> list[str]:
        """Return the command line with flags by the names that this parser knows, and switches without values."""
        end = [*arguments, "--"].index("--")
        rewritten = []
        for word in arguments[:end]:
            flag, equals, value = word.partition("=")
            if flag.startswith("--"):
                flag = self._successor(flag, flag)
                action = self._option_string_actions.get(flag)
                if equals and isinstance(action, argparse.BooleanOptionalAction):
                    flag, equals, value = self._switch(action, flag, value), "", ""
            rewritten.append(flag + equals + value)
        return [*rewritten, *arguments[end:]]

    def _successor(self, flag: str, word: str) -> str:
        """Return the flag that a flag is read as; ends the command if it is an earlier one without a successor."""
        if flag in self._option_string_actions:
            return flag
        if is_retired_flag(flag):
            self.error(f"{word}: this option is no more; docs/experiments.md has what it was worth")
        dashed = flag.replace("_", "-")
        now = self._earlier.get(dashed, dashed)
        if not now.startswith("--"):
            self.error(f"{word}: {now}")
        if now in self._option_string_actions:
            return now
        return flag  # unknown in any spelling: the error names it as it was typed

    def _switch(self, action: argparse.Action, flag: str, value: str) -> str:
        """Return `--x` or `--no-x` for a switch that was given as either with a value."""
        positive, negative = action.option_strings
        try:
            return positive if _boolean(value) == (flag == positive) else negative
        except argparse.ArgumentTypeError as error:
            self.error(f"argument {flag}: {error}")

    def error(self, message: str) -> NoReturn:
        report_error(f"{message} (see {self.prog} --help)")
        sys.exit(2)


def _boolean(text: str) -> bool:
    word = text.lower()
    if word in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        return word in ("1", "true", "yes", "on")
    raise argparse.ArgumentTypeError(f"expected true or false, got {text!r}")


def _optional(parse: Any) -> Any:
    def parse_optional(text: str) -> Any:
        return None if text.lower() == "none" else parse(text)

    parse_optional.__name__ = f"{getattr(parse, '__name__', 'value')} or none"
    return parse_optional


def _flag_kwargs(annotation: Any) -> dict[str, Any]:
    """Return the keyword arguments of `add_argument` for a field's type."""
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        members = [member for member in get_args(annotation) if member is not type(None)]
        inner = _flag_kwargs(members[0])
        # `--x / --no-x` cannot say `none`: a switch that may be unset takes its value as a word instead.
        if "action" in inner:
            return {"type": _optional(_boolean)}
        return {**inner, "type": _optional(inner.get("type", str))}
    if origin is Literal:
        choices = get_args(annotation)
        return {"type": type(choices[0]), "choices": list(choices)}
    if origin is tuple:
        return {"nargs": "+", "type": get_args(annotation)[0]}
    if annotation is bool:
        return {"action": argparse.BooleanOptionalAction}
    return {"type": annotation}


def add_flags(
    parser: argparse.ArgumentParser,
    cls: type,
    prefix: str = "",
    skip: Collection[str] = (),
    title: str = "",
    changes: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    shown: argparse._ArgumentGroup | None = None,
) -> None:
    """Add one flag for each field of the dataclass `cls`, `--<prefix>field-name`, and those of its groups.

    Booleans become `--x / --no-x`, `X | None` accepts "none", `tuple[X, ...]` takes several values, `Literal` has
    choices. A dataclass with `PRESETS` needs a `Parser`, and gets the flag `--<prefix>preset`. A group of several flags
    is shown under its own title, a single one under `shown`, that of its holder, whose `changes` count.
    """
    own = [option for option in _options(cls, prefix, skip, changes, "") if "." not in option.path]
    if own and (shown is None or len(own) > 1):
        title = title or (cls.__doc__ or cls.__name__).strip().splitlines()[0].removesuffix(".")
        shown = parser.add_argument_group(title)
    if hasattr(cls, "PRESETS"):
        assert isinstance(parser, Parser) and shown is not None, "presets need a Parser"
        parser.add_presets(shown, cls, prefix, skip)
    for option in own:
        assert shown is not None
        action = shown.add_argument(option.flag, *option.rule["also"], **_argument(option))
        if option.rule["advanced"] and isinstance(parser, Parser):
            parser.add_advanced(action)
    for field in dataclasses.fields(cls):
        inner: Group | None = field.metadata.get("group")
        if inner is not None:
            add_flags(parser, inner.cls, prefix + inner.prefix, inner.without, "", inner.changes, shown)


def _argument(option: Option) -> dict[str, Any]:
    """Return the keyword arguments of `add_argument` for an option."""
    rule = option.rule
    named: dict[str, Any] = {"dest": option.dest, "help": rule["help"].replace("%", "%%") or None}
    if rule["constant"]:
        named["help"] = argparse.SUPPRESS
    if option.default is dataclasses.MISSING:
        named["required"] = True
    else:
        named["default"] = option.default
    if rule["metavar"] is not None:
        named["metavar"] = rule["metavar"]
    if rule["action"] is not None:
        return {**named, "action": rule["action"]}
    kwargs = _flag_kwargs(option.annotation)
    if rule["choices"] is not None and "action" not in kwargs:
        kwargs["choices"] = list(rule["choices"])
    return {**kwargs, **named}


def from_args(cls: type[T], args: argparse.Namespace, prefix: str = "", **overrides: Any) -> T:
    """Build `cls` and its groups from parsed arguments; `overrides` win.

    A ValueError of its validation becomes a `UserError` that names the flag.
    """
    try:
        return cls(**dict(_values(cls, args, prefix), **overrides))
    except ConfigError as error:
        flags = {option.path: option.flag for option in options_of(cls, prefix)}
        raise UserError(error.with_flags(flags)) from error
    except ValueError as error:
        raise UserError(str(error)) from error


def _values(cls: type, args: argparse.Namespace, prefix: str) -> Iterator[tuple[str, Any]]:
    """Yield name and value of each field of `cls` that is among the parsed arguments."""
    for field in dataclasses.fields(cls):
        name, inner = (prefix + field.name).replace("-", "_"), field.metadata.get("group")
        if inner is not None:
            unasked = {left_out: inner.defaults.get(left_out, _MISSING) for left_out in inner.without}
            fixed = {left_out: value for left_out, value in unasked.items() if value is not _MISSING}
            yield field.name, from_args(inner.cls, _without(args, inner, prefix), prefix + inner.prefix, **fixed)
        elif hasattr(args, name):
            value = getattr(args, name)
            yield field.name, tuple(value) if isinstance(value, list) else value


def _without(args: argparse.Namespace, inner: Group, prefix: str) -> argparse.Namespace:
    """Return the parsed arguments less the options that a group is used without: they may belong to others."""
    hidden = {(prefix + inner.prefix + name).replace("-", "_") for name in inner.without}
    return argparse.Namespace(**{name: value for name, value in vars(args).items() if name not in hidden})


def to_dict(config: Any) -> dict[str, Any]:
    """Convert an options class to plain JSON data (tuples become lists), keyed by the names of its flags."""
    data: dict[str, Any] = {}
    for field in dataclasses.fields(config):
        value, inner = getattr(config, field.name), field.metadata.get("group")
        if inner is not None:
            prefix = inner.prefix.replace("-", "_")
            data |= {prefix + name: plain for name, plain in to_dict(value).items() if name not in inner.without}
        else:
            data[field.name] = list(value) if isinstance(value, tuple) else value
    return data

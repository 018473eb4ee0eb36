"""Check constants again that are only claimed to be checked, such as those of a library read from a file."""

from collections.abc import Iterable
from dataclasses import fields

from nanolean.kernel.declaration import (
    AxiomDecl,
    AxiomInfo,
    ConstantInfo,
    CtorDecl,
    Declaration,
    DefDecl,
    DefInfo,
    InductiveDecl,
    InductiveInfo,
    OpaqueDecl,
    OpaqueInfo,
    QuotDecl,
    QuotInfo,
    TheoremDecl,
    TheoremInfo,
)
from nanolean.kernel.env import Environment
from nanolean.kernel.errors import KernelError

HINTS = {"irreducible"}
"""Fields that mean nothing to the kernel and may change after a declaration."""


def recheck(infos: Iterable[ConstantInfo]) -> Environment:
    """A new environment with all of the constants, each declared and checked from nothing in the order given.

    Raises `KernelError` for the first that is refused, or that does not come out as it was claimed to be.
    """
    claimed: dict[str, ConstantInfo] = {}
    for info in infos:
        if info.name in claimed:
            raise KernelError(f"'{info.name}' has already been declared")
        claimed[info.name] = info
    env = Environment()
    for info in claimed.values():
        if info.name not in env:
            env = env.add(_declaration(info, claimed))
        _compare(info, env[info.name])
    if len(env) != len(claimed):
        extra = [name for name in env.names() if name not in claimed]
        raise KernelError(f"constants are missing: {', '.join(extra)}")
    return env


def _declaration(info: ConstantInfo, claimed: dict[str, ConstantInfo]) -> Declaration:
    """What has to be declared for a constant to be there."""
    name, level_params, type_ = info.name, info.level_params, info.type
    match info:
        case AxiomInfo():
            return AxiomDecl(name, level_params, type_)
        case DefInfo():
            return DefDecl(name, level_params, type_, info.value, info.reducible)
        case TheoremInfo():
            return TheoremDecl(name, level_params, type_, info.value)
        case OpaqueInfo():
            return OpaqueDecl(name, level_params, type_, info.value)
        case InductiveInfo():
            missing = [ctor for ctor in info.ctors if ctor not in claimed]
            if missing:
                raise KernelError(f"constants are missing: {', '.join(missing)}")
            ctors = tuple(CtorDecl(ctor, claimed[ctor].type) for ctor in info.ctors)
            return InductiveDecl(name, level_params, info.num_params, type_, ctors)
        case QuotInfo():
            return QuotDecl()
        case _:
            raise KernelError(f"'{name}' comes before the type that it belongs to")


def _compare(claim: ConstantInfo, found: ConstantInfo) -> None:
    """Whether a constant is what it was claimed to be in everything that the kernel looks at."""
    names = [field.name for field in fields(found) if field.init and field.name not in HINTS]
    if claim.kind != found.kind or any(getattr(claim, name) != getattr(found, name) for name in names):
        raise KernelError(f"'{claim.name}' is not what it is claimed to be")

"""Kernel terms to text, as Lean's default pretty printer writes them.

Each printed term knows three things: its text (with the marks of `line_breaks`), its own precedence, and how tightly an
operator behind it must bind not to be swallowed by its right edge (`¬p` swallows `= q` but not `∧ q`).
"""

from collections.abc import Callable
from typing import Any

from nanolean.kernel.declaration import Constants
from nanolean.kernel.expr import (
    HAVE,
    PROP,
    App,
    BVar,
    Const,
    Expr,
    FVar,
    Lam,
    Let,
    Lit,
    MVar,
    Pi,
    Proj,
    Sort,
    alpha_eq,
    get_app_fn,
    get_app_fn_args,
    has_loose_bvar,
    lift,
)
from nanolean.kernel.level import ZERO, IMax, Level, LMVar, LParam, Max, Succ
from nanolean.printer.line_breaks import (
    BREAK,
    CLOSE,
    LINE,
    OPEN,
    Signature,
    result_sort_is_prop,
    signature_of,
    telescope,
)
from nanolean.printer.print_forms import (
    CLOSED,
    Printed,
    print_dependent_if,
    print_if,
    print_match,
    print_structure,
)
from nanolean.syntax.notation import ARROW_PREC, EXPORTED, INFIX, LEAD_PREC, MAX_PREC, NOT_PREC, OPERATORS, Operator

ELLIPSIS = "⋯"
MAX_DEPTH = 50  # Lean leaves out what is nested deeper


class TermPrinter:
    """Prints terms over one environment. `names` says what each free variable is called; set it before printing."""

    def __init__(self, env: Constants) -> None:
        self.env = env
        self.names: dict[str, str] = {}
        self.types: dict[str, Expr] = {}
        self.taken: set[str] = set()
        """All names of the context, whether the term mentions them or not."""
        self.mvar_name: Callable[[str], str] | None = None
        self.show_proofs = False
        self.show_universes = False
        self.renamed = False
        """Whether a bound variable got another name because of what is in the context."""
        self._depth = 0
        self._undotted: Expr | None = None
        """The term whose last argument may not stand before a dot."""
        self._bound: list[tuple[str, Expr]] = []
        self._signatures: dict[str, Signature] = {}

    def print(self, e: Expr, dotted: bool = True) -> str:
        """Print a whole term, with marks for line breaks; `dotted` as of `pp_expr`."""
        self._bound.clear()
        self._depth = 0
        self._undotted = None if dotted else e
        self.show_proofs = self.is_proof(e)
        return self.term(e)[0]

    # --- operands

    def term(self, e: Expr) -> Printed:
        """Print a term; return its text with precedence and right edge."""
        if self._depth > MAX_DEPTH and e.__class__ in _COMPOUND:
            return ELLIPSIS, MAX_PREC, CLOSED
        self._depth += 1
        printed = _METHODS[e.__class__](self, e)
        self._depth -= 1
        return printed

    def operand(self, e: Expr, prec: int) -> tuple[str, int]:
        """Print a term where `prec` is demanded, as a group of its own; return also what its right edge leaves."""
        text, own, edge = self.term(e)
        if own < prec:
            return f"({OPEN}{text}{CLOSE})", CLOSED
        return (f"{OPEN}{text}{CLOSE}" if LINE in text or BREAK in text else text), edge

    def left(self, e: Expr, prec: int, operator_prec: int) -> str:
        """Print a left operand, which flows with the operator behind it."""
        text, own, edge = self.term(e)
        return f"({OPEN}{text}{CLOSE})" if own < prec or edge <= operator_prec else text

    def closed(self, e: Expr) -> str:
        """Print a term so that it can stand before a dot or before further arguments."""
        text, edge = self.operand(e, MAX_PREC)
        return text if edge == CLOSED else f"({text})"

    # --- leaves

    def fvar(self, e: FVar) -> Printed:
        return self.names.get(e.id, f"_fvar.{e.id}"), MAX_PREC, CLOSED

    def bvar(self, e: BVar) -> Printed:
        name = self._bound[-1 - e.idx][0] if e.idx < len(self._bound) else f"#{e.idx - len(self._bound)}"
        return name, MAX_PREC, CLOSED

    def mvar(self, e: MVar) -> Printed:
        name = self.mvar_name(e.id) if self.mvar_name is not None else ""
        return f"?{name or 'm.' + e.id.lstrip('m')}", MAX_PREC, CLOSED

    def lit(self, e: Lit) -> Printed:
        value = e.value
        return (str(value) if value.bit_length() < 4000 else hex(value)), MAX_PREC, CLOSED

    def sort(self, e: Sort) -> Printed:
        level = e.level
        if level is ZERO:
            return "Prop", MAX_PREC, CLOSED
        word = "Sort"
        below = _one_less(level)
        if below is not None:
            word, level = "Type", below
            if level is ZERO:
                return word, MAX_PREC, CLOSED
        return f"{word} {level_text(level, atomic=True)}", LEAD_PREC, CLOSED

    def const(self, e: Const) -> Printed:
        name = e.name
        infos = self.signature(name).infos
        at = "@" if infos and infos[0] in ("implicit", "inst") else ""
        return at + self.constant_name(e), MAX_PREC, CLOSED

    def constant_name(self, e: Const) -> str:
        """`f`, or `f.{u, v}` where levels are to be seen."""
        name = EXPORTED.get(e.name, e.name)
        if not self.show_universes or not e.levels:
            return name
        return f"{name}.{{{', '.join(level_text(level) for level in e.levels)}}}"

    # --- applications

    def signature(self, name: str) -> Signature:
        found = self._signatures.get(name)
        if found is None:
            found = self._signatures[name] = signature_of(self.env, name)
        return found

    def app(self, e: App) -> Printed:
        head, args = get_app_fn_args(e)
        if head.__class__ is not Const:
            if not self.show_proofs and self.is_proof(e):
                return ELLIPSIS, MAX_PREC, CLOSED
            if head.__class__ is Lam and head.info == HAVE:
                return self.with_more_args(self.have(head, args[0]), args[1:])
            infos: tuple[str, ...] = ()
            if head.__class__ is FVar and head.id in self.types:
                infos = tuple(binder.info for binder in telescope(self.types[head.id])[0])
            return self.application(self.closed(head), infos, args)
        name = head.name
        infix = INFIX.get(name)
        if name.endswith(".beq") and infix is None and name.split(".")[-2].startswith("instBEq"):
            infix = (max(2, len(self.signature(name).infos)), OPERATORS["=="])  # what `deriving BEq` has made
        if infix is not None and len(args) >= infix[0]:
            count, operator = infix
            return self.with_more_args(self.infix(operator, args[:count]), args[count:])
        match = print_match(self, head, args)
        if match is not None:
            return self.with_more_args(*match)
        signature = self.signature(name)
        if signature.is_proof and not self.show_proofs:
            return ELLIPSIS, MAX_PREC, CLOSED
        structure = print_structure(self, head, args)
        if structure is not None:
            return structure
        if name == "sorryAx" and len(args) > 2 and args[0].__class__ is Pi and args[2].__class__ is Lit:
            return self.with_more_args(("sorry", MAX_PREC, CLOSED), args[3:])  # the third is the place
        special = _SPECIAL.get(name)
        if special is not None and len(args) >= special[0]:
            printed = special[1](self, args)
            if printed is not None:
                return self.with_more_args(printed, args[special[0] :])
        place = len(args) if signature.dot is None else signature.dot
        if e is self._undotted and place == len(args) - 1:
            place = len(args)
        if place < len(args) and args[place].__class__ is not Lit and not self.needs_at(signature.infos, args):
            field = f"{self.closed(args[place])}.{name.rpartition('.')[2]}"
            return self.application(field, signature.infos[place + 1 :], args[place + 1 :])
        return self.application(self.constant_name(head), signature.infos, args)

    def needs_at(self, infos: tuple[str, ...], args: list[Expr]) -> bool:
        """Return whether the application stops before a hidden argument, which only `@f` can express."""
        return len(args) < len(infos) and infos[len(args)] in ("implicit", "inst")

    def application(self, head: str, infos: tuple[str, ...], args: list[Expr]) -> Printed:
        if self.needs_at(infos, args):
            head = "@" + head
        elif infos:
            shown = len(infos)
            args = [arg for i, arg in enumerate(args) if i >= shown or infos[i] in ("default", "")]
        if not args:
            return head, MAX_PREC, CLOSED
        pieces = [head]
        for arg in args[:-1]:
            text, edge = self.operand(arg, MAX_PREC)
            pieces.append(text if edge == CLOSED else f"({text})")
        text, edge = self.operand(args[-1], MAX_PREC)
        pieces.append(text)
        return LINE.join(pieces), LEAD_PREC, edge

    def with_more_args(self, printed: Printed, args: list[Expr]) -> Printed:
        if not args:
            return printed
        text, own, edge = printed
        head = text if own >= MAX_PREC and edge == CLOSED else f"({OPEN}{text}{CLOSE})"
        return self.application(head, (), args)

    def infix(self, operator: Operator, args: list[Expr]) -> Printed:
        """Print an operator between the last two arguments."""
        symbol, prec, left_prec, right_prec = operator
        if symbol == "::":
            items = self.list_items(args[-2], args[-1])
            if items is not None:
                return items
        left = self.left(args[-2], left_prec, prec)
        right, edge = self.operand(args[-1], right_prec)
        return f"{left} {symbol}{LINE}{right}", prec, min(edge, right_prec)

    def list_items(self, head: Expr, tail: Expr) -> Printed | None:
        """`[a, b]` when the tail ends in `[]`."""
        items = [head]
        while True:
            fn, args = get_app_fn_args(tail)
            if fn.__class__ is not Const:
                return None
            if fn.name == "List.nil" and len(args) == 1:
                return f"[{(',' + LINE).join(self.operand(item, 0)[0] for item in items)}]", MAX_PREC, CLOSED
            if fn.name != "List.cons" or len(args) != 3:
                return None
            items.append(args[1])
            tail = args[2]

    def prefix(self, symbol: str, arg: Expr) -> Printed:
        text, edge = self.operand(arg, NOT_PREC)
        return symbol + text, MAX_PREC, min(edge, NOT_PREC)

    def boolean_negation(self, arg: Expr) -> Printed:
        """`!b`, or `a != b`."""
        fn, args = get_app_fn_args(arg)
        if fn.__class__ is Const and (fn.name, len(args)) in (("Nat.beq", 2), ("BEq.beq", 4)):
            return self.infix(OPERATORS["!="], args)
        return self.prefix("!", arg)

    def negation(self, prop: Expr) -> Printed:
        """`¬p`, or `a ∉ l`."""
        fn, args = get_app_fn_args(prop)
        if fn.__class__ is Const and fn.name == "List.Mem" and len(args) == 3:
            return self.infix(OPERATORS["∉"], args)
        return self.prefix("¬", prop)

    def exists(self, args: list[Expr]) -> Printed | None:
        if args[1].__class__ is not Lam:
            return None
        names: list[str] = []
        body: Any = args[1]
        while True:
            names.append(self.bind(body))
            body = body.body
            fn, inner = get_app_fn_args(body)
            if fn.__class__ is not Const or fn.name != "Exists" or len(inner) != 2 or inner[1].__class__ is not Lam:
                break
            body = inner[1]
        text, _ = self.operand(body, 0)
        self.unbind(len(names))
        return f"∃ {LINE.join(names)},{LINE}{text}", LEAD_PREC, 0

    # --- binders

    def bind(self, binder: Any) -> str:
        """Choose the name of a binder and bring it into scope for its body."""
        name = binder.name.partition("✝")[0]
        if not name or name == "_":
            name = "x" if name or binder.__class__ is Lam else "a"
        if self.is_taken(name) and self.mentions(binder.body, name):
            self.renamed = True
            number = 1
            while self.is_taken(f"{name}_{number}"):
                number += 1
            name = f"{name}_{number}"
        self._bound.append((name, binder.type))
        return name

    def distinguish(self, name: str, others: list[str]) -> str:
        """Give the binder that was bound last another name if that is among those of `others`."""
        if name not in others:
            return name
        number = 1
        while (new := f"{name}_{number}") in others or self.is_taken(new):
            number += 1
        self._bound[-1] = (new, self._bound[-1][1])
        return new

    def unbind(self, count: int) -> None:
        del self._bound[len(self._bound) - count :]

    def is_taken(self, name: str) -> bool:
        return name in self.taken or any(name == bound for bound, _ in self._bound)

    def mentions(self, body: Expr, name: str) -> bool:
        """Return whether the body of a binder mentions another variable that is shown under this name."""
        stack: list[tuple[Any, int]] = [(body, 1)]
        seen: set[tuple[Expr, int]] = set()
        while stack:
            e, depth = stack.pop()
            if (not e.has_fvar and e.loose <= depth) or (e, depth) in seen:
                continue
            seen.add((e, depth))
            cls = e.__class__
            if cls is FVar:
                if self.names.get(e.id) == name:
                    return True
            elif cls is BVar:
                if 0 <= e.idx - depth < len(self._bound) and self._bound[-1 - (e.idx - depth)][0] == name:
                    return True
            elif cls is App:
                stack += ((e.fn, depth), (e.arg, depth))
            elif cls is Pi or cls is Lam:
                stack += ((e.type, depth), (e.body, depth + 1))
            elif cls is Let:
                stack += ((e.type, depth), (e.value, depth), (e.body, depth + 1))
            elif cls is Proj:
                stack.append((e.expr, depth))
        return False

    def lam(self, e: Lam) -> Printed:
        groups: list[str] = []
        names: list[str] = []
        body: Any = e
        before: Any = None
        while body.__class__ is Lam:
            opening, close = BRACKETS[body.info]
            type_text = self.operand(body.type, 0)[0] if body.info == "inst" else ""
            in_group = before is not None and body.info == before.info and alpha_eq(body.type, lift(before.type, 1))
            # Names of one `fun` differ, also where the inner one hides the outer one: `fun x x_1 => x_1`.
            name = self.distinguish(self.bind(body), names)
            names.append(name)
            if body.info != "inst" and opening and in_group:
                groups[-1] = f"{groups[-1].removesuffix(close)}{LINE}{name}{close}"
            elif body.info != "inst":
                groups.append(f"{opening}{name}{close}")
            elif has_loose_bvar(body.body, 0):
                groups.append(f"[{name} :{LINE}{type_text}]")
            else:
                groups.append(f"[{type_text}]")
            before = body
            body = body.body
        text, _ = self.operand(body, 0)
        self.unbind(len(names))
        return f"fun {LINE.join(groups)} =>{LINE}{text}", MAX_PREC, 0

    def pi(self, e: Pi) -> Printed:
        is_prop = self.is_prop(e)
        if self.is_arrow(e, is_prop):
            domain = self.left(e.type, ARROW_PREC + 1, ARROW_PREC)
            self.bind(e)
            codomain, edge = self.operand(e.body, ARROW_PREC)
            self.unbind(1)
            return f"{domain} →{LINE}{codomain}", ARROW_PREC, min(edge, ARROW_PREC)
        if not is_prop:
            group, count, body = self.binder_group(e, is_prop)
            codomain, edge = self.operand(body, ARROW_PREC)
            self.unbind(count)
            return f"{group} →{LINE}{codomain}", ARROW_PREC, min(edge, ARROW_PREC)
        groups: list[str] = []
        bound = 0
        rest: Any = e
        while rest.__class__ is Pi and not self.is_arrow(rest, is_prop):
            group, count, rest = self.binder_group(rest, is_prop)
            groups.append(group)
            bound += count
        text, _ = self.operand(rest, 0)
        self.unbind(bound)
        return f"∀ {LINE.join(groups)},{LINE}{text}", LEAD_PREC, 0

    def is_arrow(self, e: Pi, is_prop: bool) -> bool:
        """Return whether a binder prints as `domain →`; `is_prop` says whether the whole is a proposition."""
        return e.info in ("default", "") and not self.keeps_name(e, is_prop)

    def keeps_name(self, e: Pi, is_prop: bool) -> bool:
        """Return whether the name of a binder prints even if nothing mentions it.

        Since Lean 4.20 (lean4 7812) `→` in a proposition is implication alone: `∀ (n : Nat), p` stays as it is.
        """
        if has_loose_bvar(e.body, 0):
            return True
        return is_prop and e.info in ("default", "") and not self.is_prop(e.type)

    def binder_group(self, e: Pi, is_prop: bool) -> tuple[str, int, Expr]:
        """`(x y : T)` for as many binders as agree, how many these are, and the body behind them."""
        domain, info = e.type, e.info
        type_text, _ = self.operand(domain, 0)
        keeps_name = self.keeps_name(e, is_prop)
        names = [self.bind(e)]
        body: Any = e.body
        while (
            body.__class__ is Pi
            and body.info == info
            and info != "inst"
            and self.keeps_name(body, is_prop) == keeps_name
            and alpha_eq(body.type, lift(domain, len(names)))
        ):
            names.append(self.bind(body))
            body = body.body
        opening, close = BRACKETS[info]
        return f"{opening or '('}{LINE.join(names)} :{LINE}{type_text}{close or ')'}", len(names), body

    def let(self, e: Let) -> Printed:
        value, _ = self.operand(e.value, 0)
        name = self.bind(e)
        body = self.term(e.body)[0]
        self.unbind(1)
        return f"let {name} :={LINE}{value};{BREAK}{body}", LEAD_PREC, 0

    def have(self, fn: Lam, value: Expr) -> Printed:
        """`have x := v; body`, which is an applied function here."""
        value_text, _ = self.operand(value, 0)
        name = self.bind(fn)
        body = self.term(fn.body)[0]
        self.unbind(1)
        return f"have {name} :={LINE}{value_text};{BREAK}{body}", LEAD_PREC, 0

    def proj(self, e: Proj) -> Printed:
        return f"{self.closed(e.expr)}.{e.idx + 1}", MAX_PREC, CLOSED

    # --- what types tell

    def head_type(self, head: Any) -> Expr | None:
        """Return the type of a variable, without looking further."""
        if head.__class__ is FVar:
            return self.types.get(head.id)
        if head.__class__ is BVar and head.idx < len(self._bound):
            return self._bound[-1 - head.idx][1]
        return None

    def is_prop(self, type_: Any) -> bool:
        """Return whether a type is a proposition, judged by the types of its heads. Metavariables count as such."""
        inside = 0
        while type_.__class__ is Pi:
            self._bound.append(("", type_.type))
            inside += 1
            type_ = type_.body
        head, args = get_app_fn_args(type_)
        if head.__class__ is Const:
            answer = result_sort_is_prop(self.env, head, args)
        elif head.__class__ is MVar:
            answer = True
        else:
            known = self.head_type(head)
            answer = known is not None and telescope(known)[1] is PROP
        self.unbind(inside)
        return answer

    def is_proof(self, e: Any) -> bool:
        """Return whether a term is a proof, judged by its head; a function is one if its results are."""
        inside = 0
        while e.__class__ is Lam or e.__class__ is Let:
            self._bound.append(("", e.type))
            inside += 1
            e = e.body
        answer = self._has_proof_head(e)
        self.unbind(inside)
        return answer

    def _has_proof_head(self, e: Any) -> bool:
        head = get_app_fn(e)
        if head.__class__ is Const:
            return self.signature(head.name).is_proof
        if head.__class__ is Lam:
            return self.is_proof(head)
        type_ = self.head_type(head)
        if type_ is None:
            return False
        result = telescope(type_)[1]
        return get_app_fn(result).__class__ is not BVar and self.is_prop(result)


BRACKETS = {
    "default": ("", ""),
    "": ("", ""),
    "implicit": ("{", "}"),
    "strict": ("⦃", "⦄"),
    "inst": ("[", "]"),
    HAVE: ("", ""),
}


def _one_less(level: Any) -> Level | None:
    """Return the level `u` of `Type u` for a `Sort`, None where there is none: `max (u + 1) (v + 1)` is one too."""
    if level.__class__ is Succ:
        return level.of
    if level.__class__ is Max or level.__class__ is IMax:
        left, right = _one_less(level.left), _one_less(level.right)
        if left is not None and right is not None:
            return Max(left, right)
    return None


def level_text(level: Level, atomic: bool = False) -> str:
    """Print a universe level as the term printer does: `u + 1`, `max u v`; in parentheses if it must be atomic."""
    offset = 0
    base: Any = level
    while base.__class__ is Succ:
        base, offset = base.of, offset + 1
    if base is ZERO:
        return str(offset)
    if base.__class__ is Max or base.__class__ is IMax:
        word = "max" if base.__class__ is Max else "imax"
        text = f"{word} {level_text(base.left, True)} {level_text(base.right, True)}"
        text = f"({text})" if offset else text
    elif base.__class__ is LParam:
        text = base.name
    else:
        assert base.__class__ is LMVar
        text = f"?u.{base.name.lstrip('u')}"
    if offset:
        text = f"{text} + {offset}"
    return f"({text})" if atomic and " " in text else text


_SPECIAL: dict[str, tuple[int, Callable[[TermPrinter, list[Expr]], Printed | None]]] = {
    "Not": (1, lambda printer, args: printer.negation(args[0])),
    "not": (1, lambda printer, args: printer.boolean_negation(args[0])),
    "Exists": (2, TermPrinter.exists),
    "List.nil": (1, lambda printer, args: ("[]", MAX_PREC, CLOSED)),
    "ite": (5, print_if),
    "dite": (5, print_dependent_if),
    "sorryAx": (2, lambda printer, args: ("sorry", MAX_PREC, CLOSED)),
}
_METHODS: dict[type, Callable[[TermPrinter, Any], Printed]] = {
    FVar: TermPrinter.fvar,
    BVar: TermPrinter.bvar,
    MVar: TermPrinter.mvar,
    Lit: TermPrinter.lit,
    Sort: TermPrinter.sort,
    Const: TermPrinter.const,
    App: TermPrinter.app,
    Lam: TermPrinter.lam,
    Pi: TermPrinter.pi,
    Let: TermPrinter.let,
    Proj: TermPrinter.proj,
}
_COMPOUND = (App, Lam, Pi, Let, Proj)

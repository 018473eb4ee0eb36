"""The trusted kernel of NanoLean; imports nothing from the rest of it.

Reading order: `budget`, `level`, `node`, `expr`, `declaration`, `reduce`, `infer`, `typecheck`, `inductive`, `nat_ops`,
`env`.

Levels (`level`): `ZERO ONE Succ Max IMax LParam LMVar`, `leq equiv simplify instantiate_level mk_max mk_imax
show_level`. Terms (`expr`): `BVar FVar MVar Sort Const App Lam Pi Let Lit Proj`, interned, so compare with `is`;
`alpha_eq` ignores binder names. `PROP TYPE mk_app mk_const get_app_fn get_app_args get_app_fn_args arrow is_arrow
instantiate instantiate_rev abstract lift replace replace_levels instantiate_level_params mk_pi mk_lambda (over Local)
collect_fvars collect_mvars collect_consts subterms has_loose_bvar erase sweep`.

Environment (`env`): `env = Environment(); env = env.add(DefDecl(name, level_params, type, value))` checks or raises
`KernelError` (`BudgetExceeded` when too much work); `env.get(name)` is None or an info (`AxiomInfo DefInfo TheoremInfo
OpaqueInfo InductiveInfo CtorInfo RecInfo QuotInfo`, each with `kind name level_params type type_at(levels) mentions`);
`axioms_of(env, name)`.

Checking (`typecheck`): `TypeChecker(env, lctx, budget)` with `check infer whnf whnf_core is_def_eq ensure_sort
ensure_pi is_prop sort_of`. Single steps for other evaluators (`reduce`): `beta unfold unfold_app reduce_rec reduce_head
reduce_proj fold_nat literal_to_ctor to_literal nat_offset add_offset`, given the caller's own `whnf`, `infer` and
`is_def_eq`. A checker keeps its caches: keep one per environment and context; give deep work a `Budget`.

Long-lived processes call `expr.sweep()` between proofs to drop terms that nobody holds.

`recheck` (`env`) declares stored constants again, one by one, and compares.
"""

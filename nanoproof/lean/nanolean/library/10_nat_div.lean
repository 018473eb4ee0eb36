/-
Natural numbers: quotient and remainder. Both are defined by counting up: the remainder starts again at zero when it
reaches the divisor, and the quotient grows by one there. As in Lean they are not to be unfolded: the facts below are
all there is to know about them.
-/

def Nat.mod (x y : Nat) : Nat :=
  @Nat.rec (fun _ => Nat) 0
    (fun _ r => @Bool.rec (fun _ => Nat) (Nat.succ r) 0 (Nat.beq (Nat.succ r) y)) x

def Nat.div (x y : Nat) : Nat :=
  @Nat.rec (fun _ => Nat) 0
    (fun k q => @Bool.rec (fun _ => Nat) q (Nat.succ q) (Nat.beq (Nat.succ (Nat.mod k y)) y)) x

def Nat.gcd (m n : Nat) : Nat :=
  @Nat.rec (fun _ => Nat → Nat → Nat) (fun _ n => n)
    (fun _ gcd m n => @Nat.rec (fun _ => Nat) n (fun k _ => gcd (Nat.mod n (Nat.succ k)) (Nat.succ k)) m) m m n

attribute [irreducible] Nat.mod Nat.div Nat.gcd

"""The two update rules, on blocks of weights: Muon for matrices, AdamW for rows of embedding, head and scalars.

Muon replaces the momentum of a matrix by the nearest orthogonal matrix (its polar factor), found by a few matrix
products ("Polar Express", arXiv:2505.16932; Muon: Jordan et al. 2024). Weight decay is cautious (arXiv:2510.12402): it
acts only where it agrees with the update in sign, and it follows the learning rate's schedule.

Shapes: N matrices of R rows and C columns; X any shape.
"""

import torch

# Coefficients (a, b, c) of the odd polynomials a x + b x^3 + c x^5 that push singular values to 1, one per iteration.
POLAR_EXPRESS = (
    (8.156554524902461, -22.48329292557795, 15.878769915207462),
    (4.042929935166739, -2.808917465908714, 0.5000178451051316),
    (3.8916678022926607, -2.772484153217685, 0.5060648178503393),
    (3.285753657755655, -2.3681294933425376, 0.46449024233003106),
    (2.3465413258596377, -1.7097828382687081, 0.42323551169305323),
)
NORM_MARGIN = 1.02  # the polynomials are made for singular values a little below 1


def orthogonalize(matrices_NRC: torch.Tensor) -> torch.Tensor:
    """The (approximate) polar factors of a stack of matrices; bf16 on GPUs, fp32 elsewhere. Zero stays zero."""
    x = matrices_NRC.float()
    x = x / (x.norm(dim=(-2, -1), keepdim=True) * NORM_MARGIN + 1e-10)
    if matrices_NRC.is_cuda:
        x = x.bfloat16()
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    for a, b, c in POLAR_EXPRESS:
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return (x.mT if tall else x).to(matrices_NRC.dtype)


def muon_update(
    weights_NRC: torch.Tensor,
    gradients_NRC: torch.Tensor,
    momentum_NRC: torch.Tensor,
    lr: float,
    beta: float,
    weight_decay: float,
) -> None:
    """Update weights and momentum (Nesterov's) in place. A tall matrix moves by more: sqrt(rows / columns) times."""
    momentum_NRC.lerp_(gradients_NRC, 1 - beta)
    update_NRC = orthogonalize(gradients_NRC.lerp(momentum_NRC, beta))
    if weight_decay:
        weights_NRC.sub_(weights_NRC * (update_NRC * weights_NRC >= 0), alpha=lr * weight_decay)
    rows, columns = weights_NRC.shape[-2:]
    weights_NRC.sub_(update_NRC, alpha=lr * max(1.0, rows / columns) ** 0.5)


def adamw_update(
    weights_X: torch.Tensor,
    gradients_X: torch.Tensor,
    mean_X: torch.Tensor,
    square_X: torch.Tensor,
    step: int,
    lr: float,
    betas: tuple[float, float],
    eps: float,
) -> None:
    """Update weights and moments in place; `step` counts from 1. Nothing that it is used for wants decay."""
    beta1, beta2 = betas
    mean_X.lerp_(gradients_X, 1 - beta1)
    square_X.lerp_(gradients_X.square(), 1 - beta2)
    denominator_X = (square_X / (1 - beta2**step)).sqrt_().add_(eps)
    weights_X.addcdiv_(mean_X, denominator_X, value=-lr / (1 - beta1**step))

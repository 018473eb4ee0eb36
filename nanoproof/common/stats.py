"""Statistics for reports."""

import math


def wilson(solved: int, total: int, z: float = 1.959964) -> tuple[float, float]:
    """Wilson score interval for a proportion (Wilson 1927), 95% by default; (0, 1) when nothing was tried."""
    if total == 0:
        return 0.0, 1.0
    rate = solved / total
    centre = rate + z * z / (2 * total)
    spread = z * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)

"""Numbers as a student reads them."""

import math


def growth(share: float) -> str:
    """A growth in words: by a share, or, beyond doubling, by a factor."""
    if share < 1:
        return f"grew by {percent(share)}"
    digits = 0 if share >= 9 else 1
    return f"became {share + 1:.{digits}f} times as long"


def percent(share: float) -> str:
    """A share as '4.2 %', or '93 %' where a digit more says nothing."""
    if math.isinf(share):
        return "no result"
    digits = 1 if abs(share) < 0.1 else 0
    text = f"{share * 100:.{digits}f}".removesuffix(".0")
    return f"{'0' if text == '-0' else text} %"


def seconds(nanoseconds: float) -> str:
    if math.isinf(nanoseconds):
        return "never"
    value = nanoseconds / 1e9
    if value >= 10:
        return f"{value:.0f} s"
    return f"{value:.1f} s" if value >= 0.1 else f"{value * 1000:.1f} ms"


def size(count: float) -> str:
    """A number of bytes as '5.0 MiB' or '12.3 KiB'."""
    if count >= 1 << 20:
        return f"{count / (1 << 20):.1f} MiB"
    return f"{count / (1 << 10):.1f} KiB"

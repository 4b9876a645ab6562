"""Hand-written SVG: a frame with axes, lines, bands and dots; colours are variables of the page.

Coordinates have one decimal, so that the same numbers always give the same bytes.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal, TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.report.numbers import short

Anchor: TypeAlias = Literal["start", "middle", "end"]
Limits: TypeAlias = tuple[float, float]

# More dots than this tell no more, and make the page heavy.
MOST_DOTS = 600
_LINE_HEIGHT = 15.0


@final
@dataclass(frozen=True, slots=True)
class Frame:
    """A plot: its size in pixels, its margins, and the values at its edges."""

    width: float
    height: float
    x: Limits
    y: Limits
    left: float = 52.0
    right: float = 14.0
    top: float = 24.0
    bottom: float = 38.0

    def px(self, values: FloatArray | float) -> FloatArray:
        """Return horizontal places."""
        low, high = self.x
        inner = self.width - self.left - self.right
        return self.left + inner * (np.asarray(values, dtype=np.float64) - low) / (high - low)

    def py(self, values: FloatArray | float) -> FloatArray:
        """Return vertical places, clipped a little beyond the frame so that no line runs away."""
        low, high = self.y
        inner = self.height - self.top - self.bottom
        share = (np.asarray(values, dtype=np.float64) - low) / (high - low)
        return self.top + inner * (1.0 - np.clip(share, -0.02, 1.02))

    @property
    def floor(self) -> float:
        """The place of the lower edge."""
        return self.height - self.bottom


@final
@dataclass(slots=True)
class Drawing:
    """The elements of one picture; `render` makes the `svg` element of them."""

    frame: Frame
    parts: list[str] = field(default_factory=list[str])

    def axes(self, x_title: str, y_title: str, *, n_x: int = 6, n_y: int = 5) -> None:
        """Draw grid lines, ticks and titles; the title of the ordinate stands above it.

        With `n_x` zero the abscissa has no numbers.
        """
        f = self.frame
        for tick in ticks(f.y, n_y):
            y = float(f.py(tick))
            self.line(f.left, y, f.width - f.right, y, "grid")
            self.text(f.left - 7, y + 4, short(tick), anchor="end")
        self.line(f.left, f.floor, f.width - f.right, f.floor, "ax")
        for tick in ticks(f.x, n_x) if n_x else ():
            x = float(f.px(tick))
            self.line(x, f.floor, x, f.floor + 4, "ax")
            self.text(x, f.floor + 17, short(tick), anchor="middle")
        self.text(f.left, f.height - 4, x_title)
        if y_title:
            self.text(2, 12, y_title)

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """Draw a straight line of one class."""
        self.parts.append(
            f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
        )

    def rect(self, x: float, y: float, width: float, height: float, style: str) -> None:
        """Draw a box."""
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.0):.1f}" '
            f'height="{max(height, 0.0):.1f}" style="{style}"/>'
        )

    def text(
        self, x: float, y: float, words: str, *, anchor: Anchor = "start", kind: str = ""
    ) -> None:
        """Write words; they are escaped."""
        with_class = f' class="{kind}"' if kind else ""
        at = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self.parts.append(f'<text{with_class} x="{x:.1f}" y="{y:.1f}"{at}>{escape(words)}</text>')

    def curve(self, x: FloatArray, y: FloatArray, colour: str, *, dashed: bool = False) -> None:
        """Draw a line through points."""
        style = f"stroke:{colour}" + (";stroke-dasharray:6 4" if dashed else "")
        places = _path(zip(self.frame.px(x), self.frame.py(y), strict=True))
        self.parts.append(f'<path class="ln" d="{places}" style="{style}"/>')

    def band(self, x: FloatArray, low: FloatArray, high: FloatArray, colour: str) -> None:
        """Fill the place between two lines."""
        f = self.frame
        there = list(zip(f.px(x), f.py(high), strict=True))
        back = list(zip(f.px(x), f.py(low), strict=True))[::-1]
        self.parts.append(f'<path class="bd" d="{_path([*there, *back])}Z" style="fill:{colour}"/>')

    def dots(self, x: FloatArray, y: FloatArray, colour: str, size: float = 4.6) -> None:
        """Draw dots of one kind as one path; of very many, every so manieth."""
        keep = slice(None, None, -(-len(x) // MOST_DOTS) or 1)
        xs, ys = self.frame.px(x[keep]), self.frame.py(y[keep])
        d = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(xs, ys, strict=True))
        if d:
            style = f"stroke:{colour};stroke-width:{size:g}"
            self.parts.append(f'<path class="ds" d="{d}" style="{style}"/>')

    def bar(self, x: float, low: float, high: float, colour: str) -> None:
        """Draw an upright interval."""
        px, (top, bottom) = float(self.frame.px(x)), self.frame.py(np.array([high, low]))
        self.parts.append(
            f'<line x1="{px:.1f}" x2="{px:.1f}" y1="{top:.1f}" y2="{bottom:.1f}" '
            f'style="stroke:{colour};stroke-width:2"/>'
        )

    def ring(self, x: float, y: float, radius: float = 5.5) -> None:
        """Draw the observed point."""
        px, py = float(self.frame.px(x)), float(self.frame.py(y))
        self.parts.append(f'<circle class="ob" cx="{px:.1f}" cy="{py:.1f}" r="{radius:g}"/>')

    def labels_at_right(self, labels: Sequence[tuple[float, str, str]]) -> None:
        """Write a label at the end of each line: its height, words and colour; none overlap."""
        f = self.frame
        wanted = sorted((float(f.py(y)), words, colour) for y, words, colour in labels)
        places = spread([y for y, _, _ in wanted], _LINE_HEIGHT, f.top, f.floor)
        x = f.width - f.right + 7
        for place, (_, words, colour) in zip(places, wanted, strict=True):
            self.parts.append(
                f'<text class="st" x="{x:.1f}" y="{place + 4:.1f}" style="fill:{colour}">'
                f"{escape(words)}</text>"
            )

    def legend(self, colours: Mapping[str, str]) -> None:
        """Name the colours, one below the other, at the right."""
        f = self.frame
        for i, (name, colour) in enumerate(colours.items()):
            x, y = f.width - f.right + 12, f.top + 18.0 * i
            self.rect(x, y, 10, 10, f"fill:{colour}")
            self.text(x + 16, y + 9, name)

    def file(self, title: str) -> str:
        """Return a file of its own: an element inside a page needs no name space, a file does."""
        return self.render(title).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)

    def render(self, title: str) -> str:
        """Return the element; the title is what a screen reader says."""
        f = self.frame
        return (
            f'<svg viewBox="0 0 {f.width:g} {f.height:g}" width="{f.width:g}" '
            f'height="{f.height:g}" role="img" aria-label="{escape(title)}">'
            f"{''.join(self.parts)}</svg>"
        )


def ticks(limits: Limits, n: int) -> list[float]:
    """Return about n round numbers between two values.

    >>> ticks((0.0, 1.0), 5)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    low, high = limits
    rough = (high - low) / max(n, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((m * power for m in (1.0, 2.0, 2.5, 5.0) if m * power >= rough * 0.999), 10 * power)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def limits_of(values: Iterable[FloatArray | float], margin: float = 0.05) -> Limits:
    """Return the range of all values with a margin; never empty."""
    flat = np.concatenate([np.ravel(np.asarray(v, dtype=np.float64)) for v in values])
    flat = flat[np.isfinite(flat)]
    if not len(flat):
        return 0.0, 1.0
    low, high = float(flat.min()), float(flat.max())
    room = margin * (high - low) or abs(high) * 0.1 or 1.0
    return low - room, high + room


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move sorted places apart by at least a gap, inside two ends where there is room.

    >>> spread([10.0, 11.0], 4.0, 0.0, 100.0)
    [10.0, 14.0]
    """
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + gap) if moved else max(place, low))
    over = moved[-1] - high if moved else 0.0
    for i in range(len(moved) - 1, -1, -1):
        ceiling = moved[i + 1] - gap if i + 1 < len(moved) else high
        if over > 0.0:
            moved[i] = min(moved[i], ceiling)
    return moved


def _path(points: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)

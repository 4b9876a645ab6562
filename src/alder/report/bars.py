"""Grouped bars as a file of their own, for pictures of benchmarks."""

from collections.abc import Mapping, Sequence

from alder.report.svg import Drawing, Frame

STYLE = (
    "<style>text{font:12px Inter,system-ui,'Segoe UI',Arial,sans-serif;fill:#5f5b54}"
    ".st{font-weight:650}.ax{stroke:#5f5b54}.grid{stroke:#d9d5cc}</style>"
    '<rect width="100%" height="100%" fill="#fffefb"/>'
)
COLOURS = ("#2566b0", "#b4500f", "#0a6e52", "#8a3b93", "#7d6300", "#2b6f86", "#b9b3a7")


def ordinate(drawing: Drawing, ticks: Mapping[float, str], title: str) -> None:
    """Draw grid lines with words at some heights."""
    frame = drawing.frame
    for tick, words in ticks.items():
        y = float(frame.py(tick))
        drawing.line(frame.left, y, frame.width - frame.right, y, "grid")
        drawing.text(frame.left - 7, y + 4, words, anchor="end")
    drawing.line(frame.left, frame.floor, frame.width - frame.right, frame.floor, "ax")
    drawing.text(2, 12, title)


def grouped(drawing: Drawing, heights: Mapping[str, Sequence[float]], names: Sequence[str]) -> None:
    """Draw one group of bars for each entry, and a legend of the bars' names at the right.

    Heights are from the lower edge of the frame; the frame is one wide for each group. The name of
    a group may have two lines.
    """
    frame, width = drawing.frame, 0.8 / max(len(names), 1)
    for i, (group, values) in enumerate(heights.items()):
        for j, value in enumerate(values):
            left, right = (float(frame.px(i + 0.1 + width * (j + k))) for k in (0.06, 0.94))
            top = float(frame.py(value))
            style = f"fill:{COLOURS[j % len(COLOURS)]}"
            drawing.rect(left, top, right - left, max(frame.floor - top, 1.5), style)
        for k, line in enumerate(group.split("\n")):
            middle = float(frame.px(i + 0.5))
            drawing.text(middle, frame.floor + 17 + 14 * k, line, anchor="middle")
    drawing.legend({name: COLOURS[j % len(COLOURS)] for j, name in enumerate(names)})


def frame_of(n_groups: int, y: tuple[float, float]) -> Frame:
    """Return the frame of so many groups."""
    return Frame(760.0, 300.0, (0.0, float(max(n_groups, 1))), y, right=130.0)

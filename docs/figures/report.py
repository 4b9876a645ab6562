"""Make the picture of the README: run the demo, and photograph the page it writes.

    python docs/figures/report.py

Needs Chromium. The crop shows the crucial experiment: where the rivals part, and who was right.
"""

import subprocess
import tempfile
from pathlib import Path

from PIL import Image

TARGET = Path(__file__).with_name("report.png")
TOP, HEIGHT, WIDTH = 1090, 1632, 1000


def main() -> None:
    """Write report.png beside this file."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["alder", "demo"], cwd=folder, check=True)
        page = Path(folder) / "alder-demo" / "report.html"
        shot = Path(folder) / "shot.png"
        subprocess.run(
            [
                "chromium", "--headless", "--no-sandbox", "--hide-scrollbars",
                f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={shot}", page.as_uri(),
            ],
            check=True,
        )  # fmt: skip
        picture = Image.open(shot).crop((0, TOP, WIDTH, HEIGHT))
        picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(TARGET, optimize=True)


if __name__ == "__main__":
    main()

"""A real browser without a window, driven from the command line."""

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")

# Widths below 500 are not granted to a window, so the page is shown in a frame of that width.
_LOOK = """<!doctype html><body style="margin:0"><iframe id="f" src="{url}" width="{width}"
height="900" style="border:0"></iframe><pre id="found"></pre><script>
const errors = [];
document.getElementById("f").onload = (e) => {{
  const w = e.target.contentWindow, d = w.document, shown = (n) => n.getClientRects().length > 0;
  const wide = [...d.querySelectorAll("body *")].filter((n) => shown(n)
    && !n.closest(".scroll, pre, .eq, .eqline, svg")
    && n.getBoundingClientRect().right > {width} + 1);
  const small = [...d.querySelectorAll("svg text")].filter((n) => shown(n)
    && parseFloat(getComputedStyle(n).fontSize) * n.getScreenCTM().a < 10.99);
  const button = d.querySelector("button"); button && button.click();
  document.getElementById("found").textContent = JSON.stringify({{
    width: d.documentElement.scrollWidth,
    wide: wide.map((n) => n.tagName + "." + n.className),
    small: small.map((n) => n.textContent),
    charts: [...d.querySelectorAll("figure")].filter(
      (f) => [...f.querySelectorAll("svg")].filter(shown).length == 1).map((f) => f.dataset.chart),
    figures: d.querySelectorAll("figure").length,
    answers: w.alderLaw ? {ask}.map((row) => w.alderLaw(row)) : [],
    card: d.getElementById("try") ? d.getElementById("try").innerText : "",
    theme: d.documentElement.dataset.theme || "",
    math: [...d.querySelectorAll("math")].filter((m) => m.getBoundingClientRect().width > 0).length,
  }});
}};
</script>"""


def look(page: Path, width: int, ask: Sequence[Sequence[float]] = ()) -> dict[str, Any]:
    """Open a page at a width and return what can be seen, and what the console said.

    `ask` are rows of which the law in the page is asked.
    """
    assert BROWSER is not None
    frame = page.with_name(f"look-{width}.html")
    frame.write_text(
        _LOOK.format(url=page.name, width=width, ask=json.dumps(ask)), encoding="utf-8"
    )
    ran = subprocess.run(
        [
            BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--allow-file-access-from-files", "--enable-logging=stderr", "--v=0",
            f"--user-data-dir={page.parent / 'profile'}", "--virtual-time-budget=4000",
            "--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom", frame.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    found = re.search(r'<pre id="found">(.+?)</pre>', ran.stdout, re.DOTALL)
    assert found is not None, ran.stdout[-500:] + ran.stderr[-2000:]
    said = [line for line in ran.stderr.splitlines() if "CONSOLE" in line]
    return {**json.loads(unescape(found[1])), "console": said}

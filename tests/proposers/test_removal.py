"""Whatever an agent leaves is removed, and nothing else is."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from alder.proposers.removal import remove_tree


def nest(folder: Path, depth: int) -> None:
    handle = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("deep", dir_fd=handle)
        inner = os.open("deep", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(handle)


def test_folders_of_any_depth_are_removed(tmp_path: Path) -> None:
    nest(tmp_path, 1100)
    if sys.version_info < (3, 13):
        with pytest.raises((RecursionError, OSError)):
            shutil.rmtree(tmp_path / "deep")  # what is used everywhere else recurses
    remove_tree(tmp_path)
    assert not tmp_path.exists()


def test_links_are_removed_and_what_they_lead_to_stays(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x", "utf-8")
    left = tmp_path / "left"
    (left / "inner").mkdir(parents=True)
    for name in ("link", "inner/link"):
        (left / name).symlink_to(kept)
    os.link(kept / "file", left / "hard")
    os.mkfifo(left / "inner" / "pipe")
    remove_tree(left)
    assert not left.exists()
    assert (kept / "file").read_text("utf-8") == "x"


def test_closed_folders_and_names_like_our_own_are_removed(tmp_path: Path) -> None:
    left = tmp_path / "left"
    for name in ("moved-1/moved-1/moved-2", "a/moved-1", "moved-2"):
        (left / name).mkdir(parents=True)
    (left / "moved-3").write_text("x", "utf-8")
    (left / "a").chmod(0)
    left.chmod(0)
    remove_tree(left)
    assert not left.exists()

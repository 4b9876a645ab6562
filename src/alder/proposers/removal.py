"""Remove a folder that somebody hostile has filled."""

import os
import stat
from pathlib import Path


def remove_tree(folder: Path) -> None:
    """Remove a folder with all that is in it, however deep, closed or linked it is.

    Folders are moved up before they are emptied, so that neither a recursion nor a path grows with
    their depth; no link is followed. Nobody may write to it meanwhile.
    """
    folder.chmod(0o700)
    top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    n_moved = 0
    try:
        while names := os.listdir(top):  # noqa: PTH208 (by handle)
            for name in names:
                if not _is_folder(name, top):
                    os.unlink(name, dir_fd=top)
                    continue
                n_moved = _empty(name, top, n_moved)
                os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)
    folder.rmdir()


def _empty(name: str, top: int, n_moved: int) -> int:
    """Unlink the files of a folder and move its folders up; return how many were moved so far."""
    os.chmod(name, 0o700, dir_fd=top)
    inside = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
    try:
        for entry in os.listdir(inside):  # noqa: PTH208 (by handle)
            if _is_folder(entry, inside):
                os.chmod(entry, 0o700, dir_fd=inside)
                n_moved = _free_number(top, n_moved)
                os.rename(entry, _moved(n_moved), src_dir_fd=inside, dst_dir_fd=top)
            else:
                os.unlink(entry, dir_fd=inside)
    finally:
        os.close(inside)
    return n_moved


def _free_number(top: int, number: int) -> int:
    """Count on to a name that stands nowhere yet; the folder may hold ours by chance or design."""
    number += 1
    while True:
        try:
            os.stat(_moved(number), dir_fd=top, follow_symlinks=False)
        except FileNotFoundError:
            return number
        number += 1


def _moved(number: int) -> str:
    return f"moved-{number}"


def _is_folder(name: str, inside: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=inside, follow_symlinks=False).st_mode)

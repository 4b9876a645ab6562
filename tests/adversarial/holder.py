"""Stands for the harness: holds a canary in memory and in an open file, and lets all trace it."""

import ctypes
import json
import sys
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
_SET_PTRACER, _ANY = 0x59616D61, -1  # where Yama is on, siblings may trace only who asks for it

if __name__ == "__main__":
    LIBC.prctl(_SET_PTRACER, ctypes.c_long(_ANY), 0, 0, 0)
    file = Path(sys.argv[1]).open("rb")  # noqa: SIM115 (held open to the end)
    buffer = ctypes.create_string_buffer(file.read(), 64)
    facts = {"address": ctypes.addressof(buffer), "holder_handle": file.fileno()}
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()
    sys.stdin.read()

"""The process of a local model: llama.cpp on loopback, until its standard input ends.

It is started as `python -m alder.proposers.llm.serve MODEL CONTEXT` and writes the address it
listens at as its first line. The pipe ends with whoever started it, however that ends.
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def run(model: Path, context: int) -> None:
    """Serve a model of this file, with room for this many tokens, on one thread."""
    llama: Any = import_module("xllamacpp")  # it says nothing about its types

    # What the library itself prints must not be taken for the address.
    out = os.dup(1)
    os.dup2(2, 1)
    params = llama.CommonParams()
    params.model.path = str(model)
    params.n_ctx = context
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    # Cached prompts are computed in other batches, which changes the last digits of the logits and
    # with them what is drawn: a reply would depend on what was asked before it.
    params.cache_prompt = False
    params.cache_ram_mib = 0
    params.warmup = False
    params.verbosity = 0
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    server = llama.Server(params)
    os.write(out, f"{server.listening_address}/v1\n".encode())
    os.close(out)
    while os.read(0, 4096):
        pass
    os._exit(0)  # threads of the library may be at work; nothing is left to be saved


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]))

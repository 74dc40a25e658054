"""Compiles the kernel of fast reads for real cards; needs none. Prints the size of each binary as JSON."""

from __future__ import annotations

import json
import os
import sys

if os.environ.pop("TRITON_INTERPRET", None):  # Triton looks when it is imported, which the folder's site has done
    os.execv(sys.executable, [sys.executable, *sys.argv])

from triton.backends import backends
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile

from engine.vllm_plugin import reads_kernel

CARDS = (80, 86, 89, 90, 120)
POINTERS = {"ids": "i32", "counts": "i32", "slots": "i64", "token_ids": "i64", "logprobs": "fp32", "ranks": "i64"}


def sizes(logits: str, capped: bool, columns: int) -> list[int]:
    """Bytes of machine code, card by card."""
    kernel = reads_kernel._read_rows_kernel
    constants = {"CAPPED": capped, "COLUMNS": columns, "BLOCK": reads_kernel.BLOCK}
    signature = {name: "i32" for name in kernel.arg_names}
    signature |= {f"{name}_ptr": f"*{kind}" for name, kind in POINTERS.items()}
    signature |= {"logits_ptr": f"*{logits}", "cap": "fp32", **dict.fromkeys(constants, "constexpr")}
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
    options = {"num_warps": reads_kernel.WARPS}
    return [len(compile(source, GPUTarget("cuda", card, 32), options).asm["cubin"]) for card in CARDS]


if __name__ == "__main__":
    backends.pop("cpu", None)  # what vLLM's CPU build is told about itself, and no compiler
    found = {f"{kind} {capped} {n}": sizes(kind, capped, n) for kind in ("bf16", "fp32") for capped, n in
             ((True, 1), (True, 128), (False, 4))}  # fmt: skip
    sys.stdout.write(json.dumps(found) + "\n")

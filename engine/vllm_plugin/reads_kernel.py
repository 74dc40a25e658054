"""One pass over the logits of the rows that carry labels: argmax, log-sum-exp, and the label ids' log-probabilities.

Stock takes four passes over each row (softcap, row statistics with a Gumbel draw, log-softmax, rank), one read after
the other. Here a row is read once, in the model's own type: the softcap is applied on the way, and maximum and sum are
kept online. On a CPU the same is done with torch's operations.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from vllm.triton_utils import tl, triton

BLOCK = 4096  # columns a program reads at once
WARPS = 8


@dataclass(frozen=True, slots=True)
class Labels:
    """Which ids each row is asked for.

    Attributes:
        ids: [slots, most ids] int32, of every request, by its slot.
        counts: [slots] int32.
        slots: [rows] int64, of the rows' requests.
        columns: the most ids that a row of this batch has.
    """

    ids: torch.Tensor
    counts: torch.Tensor
    slots: torch.Tensor
    columns: int


@dataclass(frozen=True, slots=True)
class RowReads:
    """What ``SamplerOutput`` and ``LogprobsTensors`` hold, for every row.

    Attributes:
        token_ids: [rows, 1 + columns] int64; the argmax, then the label ids; 0 beyond a row's own.
        logprobs: [rows, 1 + columns] float32, over the whole vocabulary; minus infinity beyond a row's own.
        ranks: [rows] int64; columns whose logit is at least the argmax's, so 1 when there is no tie.
    """

    token_ids: torch.Tensor
    logprobs: torch.Tensor
    ranks: torch.Tensor


def read_rows(logits: torch.Tensor, cap: float | None, labels: Labels) -> RowReads:
    """Reads every row.

    Args:
        logits: [rows, vocabulary], before the softcap.
        cap: of the softcap, ``cap * tanh(logit / cap)``; None where the model has none.
    """
    return _read_rows_device(logits, cap, labels) if logits.is_cuda else read_rows_torch(logits, cap, labels)


def read_rows_torch(logits: torch.Tensor, cap: float | None, labels: Labels) -> RowReads:
    """The same with torch's operations."""
    rows = logits.float()
    if cap is not None:
        rows = torch.tanh(rows / cap) * cap
    best, argmax = rows.max(dim=-1)
    own = torch.arange(labels.columns, device=rows.device) < labels.counts[labels.slots].unsqueeze(1)
    ids = torch.where(own, labels.ids[labels.slots, : labels.columns].long(), 0)
    token_ids = torch.cat((argmax.unsqueeze(1), ids), dim=1)
    logprobs = rows.gather(1, token_ids) - rows.logsumexp(dim=-1, keepdim=True)
    logprobs[:, 1:].masked_fill_(~own, float("-inf"))
    return RowReads(token_ids, logprobs, (rows >= best.unsqueeze(1)).sum(dim=-1))


def _read_rows_device(logits: torch.Tensor, cap: float | None, labels: Labels) -> RowReads:
    rows, vocabulary = logits.shape
    found = RowReads(
        torch.empty(rows, 1 + labels.columns, dtype=torch.int64, device=logits.device),
        torch.empty(rows, 1 + labels.columns, dtype=torch.float32, device=logits.device),
        torch.empty(rows, dtype=torch.int64, device=logits.device),
    )
    if rows:
        _read_rows_kernel[(rows,)](
            logits,
            logits.stride(0),
            vocabulary,
            cap or 1.0,
            labels.ids,
            labels.ids.stride(0),
            labels.counts,
            labels.slots,
            found.token_ids,
            found.logprobs,
            found.ranks,
            labels.columns,
            CAPPED=cap is not None,
            COLUMNS=triton.next_power_of_2(max(labels.columns, 1)),
            BLOCK=BLOCK,
            num_warps=WARPS,
        )
    return found


# Triton reads a kernel's annotations as code of the kernel; types of Python's are errors to it.
@triton.jit  # type: ignore[untyped-decorator]
def _capped(x, cap, CAPPED: tl.constexpr):  # type: ignore[no-untyped-def]
    if CAPPED:
        # tanh by an exponential that cannot overflow: for z >= 0, tanh(z) = (1 - e^-2z) / (1 + e^-2z).
        shrunk = tl.exp(-2.0 * tl.abs(x / cap))
        size = cap * (1.0 - shrunk) / (1.0 + shrunk)
        x = tl.where(x < 0, -size, size)
    return x


@triton.jit  # type: ignore[untyped-decorator]
def _read_rows_kernel(  # type: ignore[no-untyped-def]
    logits_ptr,
    logits_stride,
    vocabulary,
    cap,
    ids_ptr,
    ids_stride,
    counts_ptr,
    slots_ptr,
    token_ids_ptr,
    logprobs_ptr,
    ranks_ptr,
    columns,
    CAPPED: tl.constexpr,
    COLUMNS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    base = logits_ptr + row * logits_stride
    # Maximum and argmax in the logits' own units: the softcap keeps the order. The sum is of e^(y - y of the maximum).
    best = float("-inf")
    best_at = 0
    ties = 0
    total = 0.0
    for start in range(0, vocabulary, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(base + at, mask=at < vocabulary, other=float("-inf")).to(tl.float32)
        block_best = tl.max(x, 0)
        block_ties = tl.sum((x == block_best).to(tl.int32), 0)
        block_at = start + tl.argmax(x, 0)
        above = block_best > best
        ties = tl.where(above, block_ties, tl.where(block_best == best, ties + block_ties, ties))
        best_at = tl.where(above, block_at, best_at)
        new_best = tl.maximum(best, block_best)
        top = _capped(new_best, cap, CAPPED)
        kept = tl.where(best > float("-inf"), tl.exp(_capped(best, cap, CAPPED) - top), 0.0)
        e = tl.where(x > float("-inf"), tl.exp(_capped(x, cap, CAPPED) - top), 0.0)
        total = total * kept + tl.sum(e, 0)
        best = new_best
    log_sum = tl.log(total)
    top = _capped(best, cap, CAPPED)
    out = row * (1 + columns)
    tl.store(token_ids_ptr + out, best_at)
    tl.store(logprobs_ptr + out, -log_sum)
    tl.store(ranks_ptr + row, ties)

    slot = tl.load(slots_ptr + row)
    column = tl.arange(0, COLUMNS)
    inside = column < columns
    own = (column < tl.load(counts_ptr + slot)) & inside
    token = tl.load(ids_ptr + slot * ids_stride + column, mask=own, other=0).to(tl.int64)
    x = tl.load(base + token, mask=own, other=0.0).to(tl.float32)
    logprob = tl.where(own, _capped(x, cap, CAPPED) - top - log_sum, float("-inf"))
    tl.store(token_ids_ptr + out + 1 + column, token, mask=inside)
    tl.store(logprobs_ptr + out + 1 + column, logprob, mask=inside)

"""Every flag and environment variable of a launch, each with its reason in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from engine.domain.plan import CheckpointKind, EnvVar, Flag, Link, Profile
from engine.launch.classes import MARLIN_OPTIONS, CardClass, catalogue

MAX_ANSWER = 16_384  # tokens; a ceiling, no default
MAX_LOGPROBS = 128  # vLLM 0.33.0's own ceiling on label ids of one read
CACHES = {
    "VLLM_CACHE_ROOT": "vllm",
    "TRITON_CACHE_DIR": "triton",
    "TORCHINDUCTOR_CACHE_DIR": "inductor",
    "HF_HOME": "hf",
}
"""Variables that name a folder of the installation, and that folder below the engine's cache folder."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The numbers of a plan that its flags are made from. ``context`` None means ``auto``."""

    card_class: CardClass
    profile: Profile
    checkpoint: CheckpointKind
    tensor_parallel: int
    data_parallel: int
    context: int | None
    context_reason: str
    utilisation: float
    utilisation_reason: str
    sequences: int
    canvas: int
    batched_tokens: int
    text_only: bool
    fast_sampler: bool
    uuids: tuple[str, ...]
    link: Link

    @property
    def class_options(self) -> Iterator[Flag | EnvVar]:
        for name in self.card_class.options:
            if name in MARLIN_OPTIONS and self.checkpoint == "int8":
                continue  # there is no Marlin kernel for INT8 experts: the engine would refuse the flag
            yield catalogue().options[name]
        if self.data_parallel > 1 and self.link == "off":  # the class is that of one card
            yield catalogue().options["nccl-p2p-off"]


def flags(settings: Settings) -> tuple[Flag, ...]:
    """The flags, in the order of the command line."""
    return (
        *_parallel(settings),
        *_attention(settings),
        *_sizes(settings),
        *(option for option in settings.class_options if isinstance(option, Flag)),
        *_model(settings),
        *_service(),
    )


def _parallel(settings: Settings) -> Iterator[Flag]:
    tp, dp = settings.tensor_parallel, settings.data_parallel
    part = "half" if tp == 2 else f"a {tp}th part"
    reason = "one card holds the model" if tp == 1 else f"{tp} cards share every weight: each holds {part} of it"
    yield Flag("--tensor-parallel-size", str(tp), reason)
    if dp > 1:
        yield Flag(
            "--data-parallel-size", str(dp), f"{dp} engines behind one address, one a card: reads go to the idlest"
        )
        yield Flag(
            "--enable-expert-parallel",
            None,
            f"without it data parallelism would cut every expert into {dp} strips; with it each card holds "
            f"{128 // dp} of the 128 experts whole",
        )


def _attention(settings: Settings) -> Iterator[Flag]:
    if settings.card_class.attention:
        yield Flag(
            "--attention-backend",
            settings.card_class.attention,
            "a canvas looks both ways and has heads of 256 and 512; named, so that log and behaviour are certain",
        )
    yield Flag(
        "--kv-cache-dtype",
        "auto",
        "bfloat16: the FP8 types are not supported on Ampere, or refused with an FP8 checkpoint",
    )


def _sizes(settings: Settings) -> Iterator[Flag]:
    row = settings.card_class
    yield Flag(
        "--max-model-len", "auto" if settings.context is None else str(settings.context), settings.context_reason
    )
    yield Flag("--max-num-seqs", str(settings.sequences), _sequences_reason(settings))
    yield Flag("--max-num-batched-tokens", str(settings.batched_tokens), _batch_reason(settings))
    yield Flag("--gpu-memory-utilization", f"{settings.utilisation:.2f}", settings.utilisation_reason)
    if row.eager:
        yield Flag(
            "--enforce-eager",
            None,
            "CUDA graphs and compiled layers take memory and minutes at the start, and gained nothing on such cards",
        )
    yield from _many_reads(settings)


def _batch_reason(settings: Settings) -> str:
    if settings.batched_tokens > settings.card_class.batched_tokens:
        return (
            f"all {settings.sequences} canvases of {settings.canvas} slots fit into one step: vLLM cuts short what does"
            " not, and the rest of an answer or a label is lost"
        )
    if settings.batched_tokens == 2048:
        return "activations and the cache's window margin grow with it; 2048 is enough for a prompt and its canvas"
    return "a large card has the memory to take long prompts in larger pieces"


def _many_reads(settings: Settings) -> Iterator[Flag]:
    """Figures: one H200, 400-token states, 192 in flight (docs/plugin.md)."""
    decisions = settings.card_class.decisions
    if settings.profile != "decisions" or decisions is None:
        return
    if decisions.api_servers and settings.data_parallel == 1:  # of several engines vLLM starts as many by itself
        yield Flag(
            "--api-server-count",
            str(decisions.api_servers),
            "one process takes in about 200 reads a second that share a state; on an H200 four made it 270 and more",
        )
    if decisions.graph_tokens and not settings.card_class.eager:
        yield Flag(
            "--compilation-config",
            _json(mode=3, cudagraph_mode="FULL_AND_PIECEWISE", cudagraph_capture_sizes=list(decisions.graph_tokens)),
            "steps of reads have thousands of tokens, and vLLM's own CUDA graphs end at 512: on an H200 a third more",
        )


def _sequences_reason(settings: Settings) -> str:
    if settings.sequences == 1:
        return "a full canvas takes 1.3 GiB beside the cache, and canvases of chats hardly gain from sharing a step"
    if settings.profile == "decisions":
        return (
            "reads are answered together, as many as the memory beside the cache holds: on an H200 5 a second one by "
            "one, more than 90 together"
        )
    return "requests at once; chats hardly gain from more, since a step's cost grows with its canvases"


def _model(settings: Settings) -> Iterator[Flag]:
    yield Flag(
        "--diffusion-config", _json(canvas_length=settings.canvas), "slots of one canvas; fewer take less memory"
    )
    yield Flag("--generation-config", "auto", "the checkpoint's own sampler settings and end-of-turn ids")
    yield Flag(
        "--override-generation-config",
        _json(max_new_tokens=MAX_ANSWER),
        "a ceiling for runaway answers; the checkpoint's own 256 would cut them at one canvas",
    )
    yield Flag("--reasoning-parser", "gemma4", "thoughts arrive apart from the answer")
    yield Flag("--enable-auto-tool-choice", None, "requests with tools fail without it")
    yield Flag("--tool-call-parser", "gemma4", "the model's own format of tool calls")
    yield Flag(
        "--default-chat-template-kwargs",
        _json(enable_thinking=False),
        "thinking is asked for by the request; reads are worse with it",
    )
    if settings.text_only:
        yield Flag(
            "--limit-mm-per-prompt",
            _json(image=0, video=0),
            "without pictures the vision tower is not loaded: 1.06 GiB more for the cache of each card",
        )


def _service() -> Iterator[Flag]:
    yield Flag("--max-logprobs", str(MAX_LOGPROBS), "a joint canvas reads up to 128 label ids; the default is 20")
    yield Flag("--enable-scale-out", None, "opens /inference/v1/generate and the render endpoint, which reads use")
    yield Flag("--enable-prefix-caching", None, "all questions about one row share its text")
    yield Flag("--enable-force-include-usage", None, "every stream ends with its token counts")
    yield Flag("--enable-prompt-tokens-details", None, "says how much of a prompt came from the cache")
    yield Flag("--shutdown-timeout", "20", "seconds for running requests when the engine is stopped")
    yield Flag(
        "--disable-access-log-for-endpoints", "/metrics,/health", "the app asks them often; the log stays readable"
    )


def _json(**values: object) -> str:
    return json.dumps(values, separators=(",", ":"))


def environment(settings: Settings) -> tuple[EnvVar, ...]:
    """The environment; values that hold a folder of the installation are filled in by :mod:`engine.launch.command`."""
    return (
        EnvVar("CUDA_DEVICE_ORDER", "PCI_BUS_ID", "cards are counted as they sit in the machine"),
        EnvVar("CUDA_VISIBLE_DEVICES", ",".join(settings.uuids), "exactly these cards, whatever their order is today"),
        *(option for option in settings.class_options if isinstance(option, EnvVar)),
        *_torch(settings),
        EnvVar(
            "VLLM_WORKER_MULTIPROC_METHOD", "spawn", "a forked worker would inherit a CUDA context that it cannot use"
        ),
        EnvVar("OMP_NUM_THREADS", "1", "the work is on the cards; CPU threads of every worker would fight"),
        EnvVar(
            "VLLM_USE_FLASHINFER_SAMPLER", "0", "the model brings its own sampler; FlashInfer's would be compiled first"
        ),
        EnvVar("VLLM_NO_USAGE_STATS", "1", "nothing is reported to anybody"),
        EnvVar("DO_NOT_TRACK", "1", "nothing is reported to anybody"),
        EnvVar("HF_HUB_OFFLINE", "1", "the checkpoint is on disk; nothing is asked of the hub"),
        EnvVar("TRANSFORMERS_OFFLINE", "1", "the checkpoint is on disk; nothing is asked of the hub"),
        EnvVar(
            "LD_LIBRARY_PATH", None, "the wheels bring their own CUDA libraries; others in this path would shadow them"
        ),
        EnvVar("VLLM_USE_V2_MODEL_RUNNER", None, "diffusion needs the default runner; 0 is an error"),
        EnvVar("VLLM_ATTENTION_BACKEND", None, "it has no effect any more, the flag has"),
    )


def _torch(settings: Settings) -> Iterator[EnvVar]:
    if not settings.card_class.eager or settings.fast_sampler:
        return
    why = "the sampler's compiled functions would take a minute at the start and gain nothing measured on such cards"
    yield EnvVar("TORCHDYNAMO_DISABLE", "1", why)
    yield EnvVar("TORCH_COMPILE_DISABLE", "1", why)


def phases(settings: Settings) -> tuple[str, ...]:
    """The start-up phases, in the order of vLLM's log."""
    steps = ["Reading the checkpoint's configuration", "Starting the engine"]
    if settings.tensor_parallel * settings.data_parallel > 1:
        steps.append("Connecting the cards")
    compiling = () if settings.card_class.eager else ("Compiling the model",)
    capturing = () if settings.card_class.eager else ("Capturing CUDA graphs",)
    steps += ["Loading the weights", "Measuring memory", *compiling, "Making the KV cache", "Warming up", *capturing]
    return (*steps, "Starting the server", "First chat and first read")

"""The shipped files: small, without weights in the graphs, and as good as the model card says."""

from __future__ import annotations

import json
import time
from functools import cache
from typing import Any

import numpy as np
import pytest
from onnxruntime import InferenceSession, SessionOptions
from tokenizers import Tokenizer

from tests.tools.demo_files import DEMO, EXAMPLES, ROOT
from tools.train_demo import evaluate


def session(name: str) -> InferenceSession:
    options = SessionOptions()
    options.intra_op_num_threads = 2
    return InferenceSession(str(DEMO / f"{name}.onnx"), options, providers=["CPUExecutionProvider"])


@cache
def config() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((DEMO / "config.json").read_text(encoding="utf-8"))
    return content


def test_the_folder_is_small_and_weights_are_stored_once() -> None:
    sizes = {path.name: path.stat().st_size for path in DEMO.iterdir()}
    assert sum(sizes.values()) <= 24_000_000
    assert sizes["encode.onnx"] < 400_000
    assert sizes["denoise.onnx"] < 400_000


def test_graphs_name_no_path_of_the_machine_that_made_them() -> None:
    for name in ("encode.onnx", "denoise.onnx"):
        content = (DEMO / name).read_bytes()
        assert b"model.safetensors" in content
        for trace in (b"site-packages", b"/tmp/", b"/root/", b"/home/", b".py"):
            assert trace not in content


def test_the_graphs_load_quickly() -> None:
    start = time.process_time()
    session("encode")
    session("denoise")
    assert time.process_time() - start < 5  # about 0.25 s of one core; how busy the machine is does not count


def test_one_encoded_prompt_serves_a_batch_of_canvases() -> None:
    encode, denoise = session("encode"), session("denoise")
    size = config()["text_config"]["vocab_size"]
    r = np.random.default_rng(1)
    prompt = r.integers(0, size, (1, 23))
    names = [output.name for output in encode.get_outputs()]
    prefix = dict(zip(names, encode.run(None, {"prompt_ids": prompt}), strict=True))
    canvases = r.integers(0, size, (3, 16))
    previous = r.dirichlet(np.ones(size), (3, 16)).astype(np.float32)
    length = np.array([23], np.int64)
    together = np.asarray(
        denoise.run(None, {"canvas_ids": canvases, "prev_probs": previous, "prompt_len": length, **prefix})[0]
    )
    assert together.shape == (3, 16, size)
    for i in range(3):
        feed = {"canvas_ids": canvases[i : i + 1], "prev_probs": previous[i : i + 1], "prompt_len": length, **prefix}
        alone = np.asarray(denoise.run(None, feed)[0])[0]
        np.testing.assert_allclose(together[i], alone, atol=1e-4)


def test_reads_of_the_examples_reach_their_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    tokenizer = Tokenizer.from_file(str(DEMO / "tokenizer.json"))
    size = config()["text_config"]["vocab_size"]
    found = evaluate.on_examples(tokenizer, evaluate.onnx_first_slot(DEMO), size, EXAMPLES)
    for figures in found.values():
        assert figures["readable"] >= 0.9
    assert found["contradictions/contradiction"]["auc"] >= 0.95
    assert found["tickets/refund"]["auc"] >= 0.93
    team = found["tickets/team"]
    assert team["accuracy"] >= max(0.70, 2 * team["largest_class"])
    assert found["tickets/urgency"]["spearman"] >= 0.5


def test_the_baseline_counts_words_and_loses_where_meaning_decides() -> None:
    content = json.loads((EXAMPLES / "contradictions" / "baseline.json").read_text(encoding="utf-8"))
    assert content["kind"] == "bag_of_words_logistic"
    entry = content["questions"]["contradiction"]
    questions, rows, states, columns = evaluate.read_example(EXAMPLES / "contradictions")
    weights, bias = np.array(entry["weights"]), np.array(entry["bias"])
    scores = []
    for state in states:
        logits = bias.copy()
        for word in state.lower().replace(".", " ").replace(",", " ").replace(":", " ").split():
            place = entry["vocabulary"].get(word)
            if place is not None:
                logits += weights[:, place]
        scores.append(logits[0] - logits[1])
    gold = np.array([evaluate.gold_index(questions["contradiction"], row[columns["contradiction"]]) for row in rows])
    assert evaluate.auc(np.array(scores), gold == 0) < 0.6
    for example in ("contradictions", "tickets"):
        assert (EXAMPLES / example / "baseline.json").stat().st_size <= 300_000


def test_figures_agree_with_the_oracles() -> None:
    from scipy.stats import spearmanr
    from sklearn.metrics import roc_auc_score

    r = np.random.default_rng(4)
    scores = np.round(r.random(200), 1)  # with ties
    positive = r.random(200) < 0.3
    assert evaluate.auc(scores, positive) == pytest.approx(roc_auc_score(positive, scores))
    other = np.round(scores + r.random(200), 1)
    assert evaluate.spearman(scores, other) == pytest.approx(spearmanr(scores, other).statistic)
    certain = np.array([[0.95, 0.05]] * 100)
    gold = np.array([0] * 75 + [1] * 25)
    assert evaluate.calibration_error(certain, gold) == pytest.approx(0.2)

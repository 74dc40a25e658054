"""The honest rival of the demo model: a logistic regression over word counts, fitted on the same training data.

It sees the row's rendered state as a bag of words, nothing of the question, and is fitted for each question of an
example on generated samples of the skill that the question asks for.

    python -m tools.train_demo.bag_of_words resources/examples

writes ``baseline.json`` beside every form.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from engine.domain.question import Question
from tools.train_demo import clauses, evaluate, tickets
from tools.train_demo.sample import Random

TOKEN = "[a-z0-9]+"
SAMPLES = 30_000
WORDS = 1200
DIGITS = 3  # of a weight in the file


@dataclass(frozen=True)
class Labelled:
    """A text as an example's form would show it, and the index of its answer."""

    text: str
    answer: int


def _contradiction(r: Random) -> Labelled:
    pair = clauses.draw_pair(r)
    return Labelled(f"Clause A: {pair.first}\nClause B: {pair.second}", 0 if pair.conflict else 1)


def _refund(r: Random) -> Labelled:
    ticket = tickets.draw(r)
    return Labelled(f"Ticket: {ticket.text}", 0 if ticket.refund else 1)


def _team(r: Random) -> Labelled:
    while (ticket := tickets.draw(r)).topic not in tickets.CORE:
        pass
    return Labelled(f"Ticket: {ticket.text}", tickets.CORE.index(ticket.topic))


def _urgency(r: Random) -> Labelled:
    ticket = tickets.draw(r)
    return Labelled(f"Ticket: {ticket.text}", ticket.tier)


# example -> question id -> source of training texts; answers stand in the order of the form's answers.
SOURCES: dict[str, dict[str, Callable[[Random], Labelled]]] = {
    "contradictions": {"contradiction": _contradiction},
    "tickets": {"refund": _refund, "team": _team, "urgency": _urgency},
}


def words_of(text: str) -> list[str]:
    """Lower-case words and numbers."""
    return re.findall(TOKEN, text.lower())


def counts(texts: Sequence[str], vocabulary: dict[str, int]) -> csr_matrix:
    """How often each word of the vocabulary occurs, [texts, words]."""
    rows, columns = [], []
    for row, text in enumerate(texts):
        for word in words_of(text):
            if word in vocabulary:
                rows.append(row)
                columns.append(vocabulary[word])
    return csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(texts), len(vocabulary)))


def fit(source: Callable[[Random], Labelled], question: Question, seed: int) -> dict[str, Any]:
    """The question's entry of ``baseline.json``."""
    r = Random(seed)
    samples = [source(r) for _ in range(SAMPLES)]
    found = Counter(word for sample in samples for word in set(words_of(sample.text)))
    vocabulary = {word: i for i, (word, _) in enumerate(found.most_common(WORDS))}
    answers = np.array([sample.answer for sample in samples])
    regression = LogisticRegression(max_iter=400, C=0.3)
    regression.fit(counts([sample.text for sample in samples], vocabulary), answers)
    weights, bias = regression.coef_, regression.intercept_
    if len(weights) == 1:  # scikit-learn keeps one row for two classes: that of class 1
        weights, bias = np.vstack([np.zeros_like(weights), weights]), np.array([0.0, bias[0]])
    return {
        "classes": list(question.answers),
        "lowercase": True,
        "token_pattern": TOKEN,
        "vocabulary": vocabulary,
        "weights": [[round(float(w), DIGITS) for w in row] for row in weights],
        "bias": [round(float(b), DIGITS) for b in bias],
    }


def shares(entry: dict[str, Any], texts: Sequence[str]) -> NDArray[np.float64]:
    """Probabilities of the classes, [texts, classes]: a softmax over counts times weights plus bias."""
    scores = counts(texts, entry["vocabulary"]) @ np.array(entry["weights"]).T + np.array(entry["bias"])
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    result: NDArray[np.float64] = p / p.sum(axis=1, keepdims=True)
    return result


def measure(question: Question, p: NDArray[np.float64], gold: NDArray[np.int64]) -> dict[str, float]:
    """The figures that are printed beside the model's."""
    result = {"accuracy": float((p.argmax(axis=1) == gold).mean())}
    if question.type == "noul":
        result["auc"] = evaluate.auc(p[:, 0], gold == 0)
    if question.type == "score":
        result["spearman"] = evaluate.spearman(p @ np.arange(p.shape[1]), gold.astype(float))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("examples", type=Path)
    parser.add_argument("--seed", type=int, default=5)
    arguments = parser.parse_args()
    for name, sources in SOURCES.items():
        folder = arguments.examples / name
        questions, rows, states, columns = evaluate.read_example(folder)
        entries = {}
        for key, source in sources.items():
            entries[key] = fit(source, questions[key], arguments.seed)
            gold = np.array([evaluate.gold_index(questions[key], row[columns[key]]) for row in rows])
            print(name, key, json.dumps(measure(questions[key], shares(entries[key], states), gold)))
        content = {"version": 1, "kind": "bag_of_words_logistic", "questions": entries}
        (folder / "baseline.json").write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Features are bounded, and equal to their definitions computed the slow way."""

from __future__ import annotations

import numpy as np
import pytest

from tests.search.pools import ask, model, refs, token_vectors, vault
from tests.search.test_order import SOFTWARE, TALK
from vault_memory.search.features import scaled
from vault_memory.search.rank import NAMES
from vault_memory.search.sessions import is_log, session_is_log, speaker_label
from vault_memory.search.tokens import RememberedTokens


def test_every_feature_lies_between_0_and_1() -> None:
    for query in ("Where did Ana stay for the night?", "dog", "lighthouse lighthouse shells", "yesterday"):
        _, _, ordered = ask(vault(TALK, session="s"), query)
        for name in NAMES:
            values = getattr(ordered.features, name)
            assert values.min() >= 0, name
            assert values.max() <= 1 + 1e-6, name


def test_maxsim_is_the_idf_weighted_best_partner_of_each_token() -> None:
    talk = vault(TALK, session="s")
    numbers, pool, ordered = ask(talk, "the kids and the shells by the lighthouse")
    asked = token_vectors()(numbers.token_ids)
    slow = np.zeros(len(pool))
    for row in range(len(pool)):
        ids = pool.token_ids[pool.token_offsets[row] : pool.token_offsets[row + 1]]
        best = np.clip(asked @ token_vectors()(ids).T, 0, 1).max(axis=1)
        slow[row] = (best * numbers.token_idf).sum() / numbers.token_idf.sum()
    assert ordered.matches.best @ ordered.matches.weight == pytest.approx(slow, abs=1e-5)
    assert ordered.features.maxsim == pytest.approx(scaled(slow), abs=1e-5)


def test_a_repeated_word_counts_more_but_less_than_as_often_as_it_is_said() -> None:
    shares = []
    for query in ("dog shells", "dog dog dog shells"):
        _, _, ordered = ask(vault(TALK), query)
        place = ordered.matches.tokens.tolist().index(int(model().tokenise(["dog"])[0][0]))
        shares.append(float(ordered.matches.weight[place]))
    assert shares[0] < shares[1] < 0.75


def test_the_question_in_the_last_line_of_a_very_long_query_is_heard() -> None:
    vocabulary = sorted(word for word in model().tokenizer.get_vocab() if word.isascii() and word.isalpha())
    filler = " ".join(vocabulary[::30][:400] * 6)
    _, pool, ordered = ask(vault([*TALK, *["Something else entirely."] * 30]), f"{filler} guesthouse behind the dunes")
    assert len(ordered.matches.tokens) == 128
    assert "m004" in refs(pool, ordered)[:5]


def test_values_that_do_not_differ_say_nothing() -> None:
    assert scaled(np.full(3, 0.7, np.float32)).tolist() == [0, 0, 0]
    assert scaled(np.zeros(0, np.float32)).tolist() == []


def test_remembered_token_vectors_are_those_of_the_model() -> None:
    asked: list[int] = []

    def load(ids: np.ndarray) -> np.ndarray:
        asked.extend(ids.tolist())
        return model().token_vectors(ids)

    remembered = RememberedTokens(load, *model().table.shape)
    ids = np.array([5, 900, 5000])
    assert (remembered(ids) == model().token_vectors(ids)).all()
    assert (remembered(ids[::-1]) == model().token_vectors(ids[::-1])).all()
    assert asked == [5, 900, 5000]


@pytest.mark.parametrize(
    ("body", "speaker"),
    [
        ("Ana: hello", "Ana"), ("**Ana Maria**: hello", "Ana Maria"), ("> Ben: yes", "Ben"), ("http://x.y", ""),
        ("12:30 lunch", ""), ("A sentence that ends in a colon much later: no", ""), ("", ""), ("Ana:hello", ""),
        ("Note to all of us: x", ""),
    ],
)  # fmt: skip
def test_a_speaker_is_a_leading_label(body: str, speaker: str) -> None:
    assert speaker_label(body) == speaker


def test_a_log_is_long_and_spoken() -> None:
    assert is_log(6, 5)
    assert not is_log(5, 5)
    assert not is_log(10, 7)
    assert session_is_log([("interaction", "x")] * 5 + [("note", "Ana: hi")])
    assert not session_is_log([("decision", "We deploy with fly.io")] * 9)


def test_an_agents_working_session_does_not_lift_its_unrelated_decisions() -> None:
    _, _, ordered = ask(vault(SOFTWARE, session="work"), "postgres billing")
    assert not ordered.features.session.any()

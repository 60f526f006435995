"""Random streams of devices: Philox against its published answers, and what a stream does not depend on."""
import numpy as np
import pytest
from mbros_core.plant._devices import numbers, philox_block
from mbros_core.plant.keys import stream_key
from scipy import stats

# Random123's kat_vectors (Salmon et al. 2011), lines "philox4x32 10": counter, key, answer.
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def words(text):
    return tuple(int(word, 16) for word in text.split())


@pytest.mark.parametrize("counter, key, answer", KNOWN)
def test_philox_gives_the_published_answers(counter, key, answer):
    assert philox_block(words(counter), words(key)) == words(answer)


def test_uniform_and_normal_numbers():
    x = numbers(stream_key(1, "a"), 100_000)
    assert 0.0 < x.min() and x.max() < 1.0 and stats.kstest(x, "uniform").pvalue > 1e-3
    z = numbers(stream_key(1, "a"), 100_000, True)
    assert stats.kstest(z, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(z[:-1], z[1:])[0, 1]) < 4.0 / np.sqrt(len(z))


def test_streams_differ_by_name_and_by_seed_and_by_nothing_else():
    a = numbers(stream_key(1, "a"), 1000)
    assert (numbers(stream_key(1, "a"), 1000) == a).all()
    for other in (stream_key(2, "a"), stream_key(1, "b")):
        b = numbers(other, 1000)
        assert not (a == b).any() and abs(np.corrcoef(a, b)[0, 1]) < 0.15

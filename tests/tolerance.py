"""How close is close: errors relative to the size of what is compared, and bounds that are expressions of eps."""
import numpy as np

EPS = np.finfo(float).eps


def relative_error(actual, expected, scale=0.0):
    """max |actual - expected| over the largest entry of `expected` (or `scale`, where that is larger)."""
    actual, expected = np.asarray(actual, float), np.asarray(expected, float)
    assert actual.shape == expected.shape, f"shapes differ: {actual.shape} and {expected.shape}"
    if expected.size == 0:
        return 0.0
    error = np.abs(actual - expected).max()
    size = max(np.abs(expected).max(), scale)
    return float(error / size) if size > 0 else float(error)


def assert_close(actual, expected, bound, scale=0.0, what=""):
    """`relative_error` at most `bound`; a NaN is never close."""
    error = relative_error(actual, expected, scale)
    if not error <= bound:
        raise AssertionError(f"{what or 'values'}: relative error {error:.3g} exceeds {bound:.3g}\n"
                             f"actual   {np.asarray(actual)}\nexpected {np.asarray(expected)}")


def condition(M):
    """Condition number of a symmetric matrix: how much a solution with it may lose."""
    w = np.linalg.eigvalsh(M)
    return w[-1] / w[0]

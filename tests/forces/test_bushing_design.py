"""How to choose stiffness and damping (seed 003): every printed digit of the golden constants, and the laws behind them."""
import json
from math import exp, log, pi, sqrt
from pathlib import Path

import numpy as np
import pytest
from tolerance import EPS, assert_close

from mbros import bushing_design as design
from mbros.describe.forces import settling

seed = pytest.mark.seed
GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "bushing_constants.json").read_text())


def digits(x, printed):
    """x rounded to as many digits as `printed` shows, e.g. "6.64" or "2.4e-12"."""
    mantissa = str(printed).lower().split("e")[0].replace(".", "").lstrip("0")
    return float(f"{x:.{max(1, len(mantissa)) - 1}e}")


# ---------------------------------------------------------------------------------------------------- golden numbers

@seed("BU-35")
@pytest.mark.parametrize("case", GOLDEN["critical_damping"])
def test_critical_damping(case):
    r = case["settling_ratio"]
    for method in ("exact", "critical"):
        wn_ts = design.settling_frequency(1.0, 1.0, r, method)
        assert_close(wn_ts, case["wn_ts"], 4 * EPS)
        assert round(wn_ts, 2) == case["seed_value"]
    tau = case["wn_ts"]
    assert_close((1 + tau) * exp(-tau), r, 16 * EPS)


@seed("BU-36", "BU-37")
@pytest.mark.parametrize("case", GOLDEN["overdamped"])
def test_overdamped_and_the_error_of_the_dominant_pole(case):
    zeta, r = case["zeta"], case["settling_ratio"]
    assert_close(design.settling_frequency(zeta, 1.0, r), case["wn_ts_exact"], 4 * EPS)
    assert_close(design.settling_frequency(zeta, 1.0, r, "dominant_pole"), case["wn_ts_approx"], 4 * EPS)
    percent = 100 * design.dominant_pole_error(zeta, r)
    assert_close(percent, case["percent_error_wn_ts"], 64 * EPS)
    assert_close(100 * design.dominant_pole_error(zeta, r, of="response"), case["percent_error_response_at_ts"], 64 * EPS)
    assert digits(percent, case["seed_percent"]) == pytest.approx(case["seed_percent"], rel=1e-15)


@seed("BU-34")
@pytest.mark.parametrize("case", GOLDEN["underdamped"])
def test_underdamped(case):
    zeta, r = case["zeta"], case["settling_ratio"]
    # the golden file's own root finding is good to 1.1e-13 (ours to 2e-15, both against 50 digits)
    assert_close(design.settling_frequency(zeta, 1.0, r), case["wn_ts_exact"], 2e-13)
    assert_close(design.settling_frequency(zeta, 1.0, r, "simple"), case["wn_ts_simple"], 2 * EPS)
    assert_close(design.settling_frequency(zeta, 1.0, r, "better"), case["wn_ts_envelope"], 2 * EPS)


@seed("BU-27", "BU-28", "BU-29", "BU-30", "BU-31", "BU-32", "BU-33", "BU-38")
@pytest.mark.parametrize("case", GOLDEN["design"])
def test_design_formulas(case):
    m, k, zeta, wn = (case[name] for name in ("m", "kx", "zeta", "wn"))
    assert_close(design.natural_frequency(m, k), wn, 2 * EPS)
    assert_close(design.stiffness_from_frequency(m, wn), case["kx_from_m_wn"], 2 * EPS)
    d = design.damping_from_inertia(m, k, zeta)
    assert_close(d, case["dx_from_zeta_m_kx"], 4 * EPS)
    assert_close(2 * zeta * k / wn, case["dx_from_zeta_kx_wn"], 4 * EPS)
    ts = design.settling_time(zeta, wn, 0.02)
    assert_close(design.damping_from_settling(k, zeta, ts, 0.02), case["dx_from_zeta_kx_wn"], 8 * EPS)
    assert_close(design.damping_ratio(m, k, d), case["zeta_back"], 4 * EPS)
    assert_close(design.damping_from_inertia(case["I0"], case["k0"], zeta), case["d0_from_zeta_I0_k0"], 4 * EPS)
    assert_close(design.stiffness_from_limit(case["F_max"], case["x_max"]), case["kx_penalty"], 2 * EPS)
    assert_close(design.stiffness_from_test(-case["F_max"], -case["x_max"]), case["kx_penalty"], 2 * EPS)
    assert_close(design.damping_ratio_from_decay(case["decay_ratio"]), case["zeta_from_log_decrement"], 16 * EPS)
    assert_close(-log(case["decay_ratio"]), case["log_decrement"], 16 * EPS)
    assert design.stiffness_from_limit(100.0, 1e-3) == 1e5                                     # the seed's example


# -------------------------------------------------------------------------------------------------------------- laws

def motion(zeta, tau):
    """x/x(0) from the textbook's formula with complex poles: independent of mbros.describe.forces.settling."""
    root = np.sqrt(complex(zeta * zeta - 1.0))
    p1, p2 = -zeta + root, -zeta - root
    return ((p1 * np.exp(p2 * tau) - p2 * np.exp(p1 * tau)) / (p1 - p2)).real


@seed("BU-34", "BU-35", "BU-36")
@pytest.mark.parametrize("zeta", [0.01, 0.05, 0.2, 0.43, 0.59, 0.69, 0.7, 0.8, 0.826, 0.95, 0.999, 1.001, 1.05, 1.3, 2.0, 20.0])
@pytest.mark.parametrize("r", [0.01, 0.02, 0.05, 0.1, 0.5])
def test_settled_means_settled(zeta, r):
    """At the settling time |x| = r; never above it later, and above it just before."""
    tau = settling.exact(zeta, r)
    assert_close(abs(motion(zeta, tau)), r, 1e-11)
    later = tau + np.linspace(0, 40 / min(zeta, 1.0), 40_001)[1:]
    assert np.abs(motion(zeta, later)).max() < r
    assert abs(motion(zeta, tau * (1 - 1e-7))) > r
    assert_close(settling.response(zeta, tau), motion(zeta, tau), 1e-11)


@seed("BU-34")
def test_settling_jumps_where_a_peak_passes_the_ratio():
    """The overshoot at zeta_1 is exactly 5 %: a little less damping rings on for the rest of the half period."""
    zeta = -log(0.05) / sqrt(pi**2 + log(0.05) ** 2)
    ringing, clear = settling.exact(zeta * (1 - 1e-9), 0.05), settling.exact(zeta * (1 + 1e-9), 0.05)
    assert_close(ringing, pi / sqrt(1 - zeta**2), 1e-4)
    assert clear < 0.8 * ringing


@seed("BU-34", "BU-35", "BU-36")
def test_settling_is_continuous_through_critical_damping():
    for r in (0.01, 0.1):
        at = settling.exact(1.0, r)
        for dz in (1e-15, 1e-12, 1e-9, 1e-6):
            assert abs(settling.exact(1.0 - dz, r) - at) < 60 * dz + 8 * EPS * at
            assert abs(settling.exact(1.0 + dz, r) - at) < 60 * dz + 8 * EPS * at


@seed("BU-31", "BU-33", "BU-34")
def test_a_simulated_spring_settles_when_it_was_designed_to(rng):
    for zeta in (0.3, 1.0, 1.7):
        k, ts = rng.uniform(10, 1e4), rng.uniform(0.1, 2)
        d = design.damping_from_settling(k, zeta, ts, 0.05)
        m = k / design.settling_frequency(zeta, ts, 0.05) ** 2
        assert_close(design.damping_ratio(m, k, d), zeta, 8 * EPS)
        x, v, h, last = 1.0, 0.0, ts * 2e-5, 0.0
        for step in range(100_000):
            v += h * (-k * x - d * v) / m
            x += h * v
            last = (step + 1) * h if abs(x) > 0.05 else last
        assert_close(last, ts, 2e-3)


@seed("BU-38")
def test_decay_of_a_vibration():
    """Peaks of the true motion at tau = 2 pi n / sqrt(1 - zeta^2)."""
    for zeta in (0.01, 0.1, 0.5):
        period = 2 * pi / sqrt(1 - zeta**2)
        assert_close(design.damping_ratio_from_decay(motion(zeta, 3 * period) / motion(zeta, 2 * period)), zeta, 1e-11)


def test_arrays_are_axis_by_axis():
    k, zeta = np.array([1e3, 2e3, 4e3]), np.array([0.3, 1.0, 3.0])
    d = design.damping_from_settling(k, zeta, 0.1)
    assert d.shape == (3,)
    for i in range(3):
        assert d[i] == design.damping_from_settling(k[i], zeta[i], 0.1)
    assert type(design.damping_from_inertia(1.0, 2.0, 0.5)) is float
    assert design.settling_time(zeta[:, None], k, 0.02).shape == (3, 3)
    assert design.dominant_pole_error([1.1, 1.2], 0.01).shape == (2,)


# ------------------------------------------------------------------------------------------------------------- advice

@seed("BU-39")
def test_advice(rng):
    k, d, m = np.array([1e5, 4e3, 0.0, 2e3, 900.0]), np.array([20.0, 130.0, 3.0, 0.0, 900.0]), np.array([2.0, 1.0, 1.0, 1.0, 1.0])
    advice = design.advise(k, d, m, load=100.0, settling_ratio=0.02)
    assert_close(advice.natural_frequency, np.sqrt(k / m), 2 * EPS)
    assert_close(advice.damping_ratio[[0, 1, 3, 4]], (d / (2 * np.sqrt(m * np.where(k, k, 1))))[[0, 1, 3, 4]], 2 * EPS)
    assert np.isnan(advice.damping_ratio[2]) and np.isinf(advice.settling_time[[2, 3]]).all()
    for i in (0, 1, 4):
        assert_close(advice.settling_time[i], design.settling_time(advice.damping_ratio[i], advice.natural_frequency[i], 0.02), 4 * EPS)
    assert_close(advice.deflection[[0, 1, 3, 4]], 100 / k[[0, 1, 3, 4]], 2 * EPS)
    assert np.isinf(advice.deflection[2])
    assert_close(advice.suggested_step, min(1e-3, advice.largest_step.min() / 10), 4 * EPS)
    words = " ".join(advice.notes)
    for word in ("axis 0 rings", "axis 1 is near critical damping", "axis 2 has no spring: it is free, slowed by its damper",
                 "axis 3 has no damper", "axis 4 creeps back"):
        assert word in words
    text = str(advice)
    assert "zeta" in text and "suggested time step" in text and len(text.splitlines()) == 1 + 5 + 1 + 5
    assert design.advise(0.0, 0.0, 1.0).suggested_step == 1e-3


@seed("BU-39")
@pytest.mark.parametrize("k, d, m", [(1e4, 0.0, 2.0), (1e4, 50.0, 2.0), (1e4, 5e3, 2.0), (0.0, 40.0, 0.5), (3.0, 1e-3, 7.0)])
def test_the_largest_step_is_where_the_midpoint_step_loses_stability(k, d, m):
    def radius(h):
        """Spectral radius of one step."""
        change = -h / m * np.array([k, 1.5 * d, -0.5 * d])          # of v, from the middle's q and v + (v - v before) / 2
        step = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0]]) + np.outer([h, 1, 0], change) + np.outer([h, 0, 0], [0, 1, 0])
        return np.abs(np.linalg.eigvals(step if k else step[1:, 1:])).max()

    h = design.advise(k, d, m).largest_step[0]
    assert radius(h * (1 - 1e-6)) <= 1 + 1e-9 and radius(h * (1 + 1e-3)) > 1 + 1e-5


@pytest.mark.parametrize("call, text", [
    (lambda: design.stiffness_from_test(1.0, 0.0), "deflection is 0"),
    (lambda: design.stiffness_from_test(1.0, -2.0), "load / deflection is -0.5; expected a number finite and above zero"),
    (lambda: design.stiffness_from_limit(-1.0, 1.0), "max_load is -1.0"),
    (lambda: design.stiffness_from_frequency([1.0, np.nan], 1.0), r"inertia\[1\] is nan"),
    (lambda: design.natural_frequency("heavy", 1.0), "inertia: expected a number, or an array of them, got 'heavy'"),
    (lambda: design.damping_ratio_from_decay(1.0), "decay_ratio is 1.0; expected a number between 0 and 1"),
    (lambda: design.settling_frequency(0.0, 1.0), "damping_ratio is 0.0"),
    (lambda: design.settling_frequency(0.5, 1.0, 1.5), "settling_ratio is 1.5; expected a number between 0 and 1"),
    (lambda: design.settling_frequency(1.5, 1.0, 0.01, "simple"), "method 'simple' is for 0 < zeta < 1"),
    (lambda: design.settling_frequency(0.5, 1.0, 0.01, "dominant_pole"), "method 'dominant_pole' is for zeta > 1"),
    (lambda: design.settling_frequency(0.5, 1.0, 0.01, "critical"), "method 'critical' is for 0.9 <= zeta < 1.1"),
    (lambda: design.settling_frequency(0.5, 1.0, 0.01, "exakt"), "method: no 'exakt'; did you mean 'exact'"),
    (lambda: design.settling_time(0.5, -1.0), "wn is -1.0"), (lambda: design.advise(-1.0, 1.0, 1.0), "stiffness is -1.0"),
    (lambda: design.advise(1.0, 1.0, 0.0), "inertia is 0.0"),
    (lambda: design.dominant_pole_error(2.0, of="x"), "of: expected 'settling_time' or 'response', got 'x'")])
def test_refusals(call, text):
    with pytest.raises(ValueError, match=text):
        call()

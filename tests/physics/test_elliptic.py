"""Two motions in Jacobi's elliptic functions, with a step small enough for nine digits."""
import numpy as np
import pytest
from physics_rigs import G, Run, agm, body, crossings, free_body, pendulum
from scipy.special import ellipj


@pytest.mark.seed("RM-N2")
def test_pendulum_from_179_degrees():
    """T = 2 pi sqrt(l/g) / agm(1, cos(a/2)), five and a half times the small swing's, to 1e-9 at a step of 0.2 ms."""
    length, amplitude, dt = 0.8, np.radians(179.0), 2e-4
    period = 2 * np.pi * np.sqrt(length / G) / agm(1.0, np.cos(amplitude / 2))
    run = Run(pendulum(length=length), dt, q=[amplitude])
    t, q, v = run.record(int(0.8 * period / dt))
    down, up = crossings(t, q[:, 0], v[:, 0])[:2]
    assert abs((up - down) / (period / 2) - 1) < 1e-9
    assert abs(down / (period / 4) - 1) < 1e-9


@pytest.mark.seed("QF-N2")
def test_dzhanibekov_over_100_seconds():
    """Landau, Lifshitz, Mechanics, section 37: w1 ~ cn, w2 ~ sn, w3 ~ dn of tau = t sqrt((I3 - I2)(L2 - 2E I1) / (I1 I2 I3)).

    Spun so that L2 is just above 2E I2, it turns over about its middle axis some forty times.
    """
    I1, I2, I3 = I = np.array([0.010, 0.020, 0.028])
    w0 = np.array([3.0, 0.0, np.sqrt(I1 * (I2 - I1) * 9.0 / (I3 * (I3 - I2))) * 1.0005])
    E2, L2 = I @ w0**2, (I * w0) @ (I * w0)
    assert 1 < L2 / (E2 * I2) < 1.001
    rate = np.sqrt((I3 - I2) * (L2 - E2 * I1) / (I1 * I2 * I3))
    m = (I2 - I1) * (E2 * I3 - L2) / ((I3 - I2) * (L2 - E2 * I1))
    dt, every, rows = 2e-4, 500, 1000
    run = Run(free_body(body(1.7, [0, 0, 0], np.diag(I))), dt, v=[*w0, 0, 0, 0])
    w = np.empty((rows, 3))
    for k in range(rows):
        run.plant.steps(np.zeros(6), every)
        w[k] = run.state.v[:3]
    t = dt * every * np.arange(1, rows + 1)
    sn, cn, dn, _ = ellipj(rate * t, m)
    # Euler: I2 w2dot = (I3 - I1) w3 w1 > 0 at the start, so w2 begins with +sn
    exact = np.stack([w0[0] * cn, np.sqrt((E2 * I3 - L2) / (I2 * (I3 - I2))) * sn, w0[2] * dn], axis=1)
    assert np.ptp(np.sign(exact[:, 1])) == 2 and t[-1] == pytest.approx(100.0)
    assert np.abs(w - exact).max() < 1e-8 * np.linalg.norm(w0)

"""Andrews' squeezer, the seven-body mechanism of the collections of test problems for differential-algebraic equations: 7 coordinates, 3
closed loops, a spring, a motor of 0.033 N m, no gravity, 0.03 s from rest, in which the crank turns twice and a half.

Data and reference solution: Hairer and Wanner, Solving Ordinary Differential Equations II (1996), section VII.7; Mazzia and Magherini,
Test Set for Initial Value Problem Solvers (2008), problem "andrews".
"""
import mbros
import numpy as np
import pytest

START = {"beta": -0.0617138900142764496358948458001, "theta": 0.0, "gamma": 0.455279819163070380255912382449,
         "phi": 0.222668390165885884674473185609, "delta": 0.487364979543842550225598953530, "omega": -0.222668390165885884674473185609,
         "epsilon": 1.23054744454982119249735015568}
END = {"beta": 15.81077119629904, "theta": -15.75637105984298, "gamma": 0.04082224013073101, "phi": -0.5347301163226948,
       "delta": 0.5244099658805304, "omega": 0.5347301163226948, "epsilon": 1.048080741042263}
SPEEDS = {"beta": 1139.920302151208, "theta": -1424.379294994111, "gamma": 11.03291221937134, "phi": 19.29337464421385,
          "delta": 0.5735699284790808, "omega": -19.29337464421385, "epsilon": 0.3231791658026955}
ACCELERATIONS = {"beta": -24631.76316945196, "theta": 51850.37701610329, "gamma": 324102.5686413781, "phi": 566749.3645176213,
                 "delta": 16743.62929479361, "omega": -566749.3645176222, "epsilon": 9826.520791458422}
MULTIPLIERS = {"K3": (199.1753333731910, -29.75531228015052), "K4": (23.06654119098399, 31.45271365475927),
               "K6": (22.64249232082739, 11.61740700019673)}          # N, along x and y
A, B, C = (-0.06934, -0.00227, 0.0), (-0.03635, 0.03273, 0.0), (0.014, 0.072, 0.0)
E, EA, SS, SA, SB, ZT, ZF, U = 0.02, 0.01421, 0.035, 0.01874, 0.01043, 0.04, 0.02, 0.04


@pytest.fixture(scope="module")
def squeezer():
    b = mbros.ModelBuilder("squeezer", gravity=(0, 0, 0))

    def body(name, mass, inertia, com):
        return b.add_body(name, mass=mass, com=(*com, 0.0), inertia=(inertia, inertia, inertia))

    def turn(name, parent, child, p=(0.0, 0.0, 0.0)):
        b.add_joint(mbros.RevoluteJoint(name, parent, child, p=p, axis=(0, 0, 1)))

    k1, k2 = body("K1", 0.04325, 2.194e-6, (0.00092, 0)), body("K2", 0.00365, 4.410e-7, (-0.0115, 0))
    k3 = body("K3", 0.02373, 5.255e-6, (SB, -SA))
    k5, k4 = body("K5", 0.07050, 1.169e-5, (0.02308, 0.00916)), body("K4", 0.00706, 5.667e-7, (0, EA - E))
    k7, k6 = body("K7", 0.05498, 1.912e-5, (-0.00449, -0.01228)), body("K6", 0.00706, 5.667e-7, (ZF - 0.01421, 0))
    turn("beta", b.world, k1)
    turn("theta", k1, k2, (0.007, 0, 0))
    turn("gamma", b.world, k3, B)
    turn("delta", b.world, k5, A)
    turn("phi", k5, k4, (ZT, 0, 0))
    turn("epsilon", b.world, k7, A)
    turn("omega", k7, k6, (0, -U, 0))
    pin = b.add_frame("pin", k2, p=(-0.028, 0, 0))
    for name, link, p in (("K3", k3, (0, -SS, 0)), ("K4", k4, (0, -E, 0)), ("K6", k6, (ZF, 0, 0))):
        b.add_constraint(mbros.BallConstraint(f"pin of {name}", pin, b.add_frame(f"eye of {name}", link, p=p)))
    ends = b.add_frame("C", b.world, p=C), b.add_frame("D", k3, p=(0.02, -0.018, 0))
    b.add_force_element(mbros.LinearSpringDamper(*ends, 0.07785, 4530.0, 0.0))
    return b.build()


def start(squeezer):
    state = squeezer.default_state()
    for name, q in START.items():
        squeezer.joint(name).set_position(state, q)
    return state


@pytest.mark.parametrize("integrator, dt, bound", [("rk4", 1e-5, 5e-9), ("midpoint", 1e-5, 2e-5), ("midpoint", 1e-6, 3e-7)])
def test_against_the_reference_solution(squeezer, integrator, dt, bound):
    state = start(squeezer)
    assert max(np.abs(c.gap(state)).max() for c in squeezer.constraints) < 1e-15
    sim = mbros.Simulator(squeezer, dt=dt, integrator=integrator, state=state)
    sim.plant.steps(squeezer.effort_vector({"beta": 0.033}), round(0.03 / dt))
    error = {name: abs(squeezer.joint(name).position(sim.state).item() - q) for name, q in END.items()}
    assert max(error.values()) < bound, error
    assert max(np.abs(c.gap(sim.state)).max() for c in squeezer.constraints) < 5e-9


def test_speeds_accelerations_and_what_the_pins_carry(squeezer):
    """The other 20 numbers of the reference solution. Its index is 3: it has its positions to 1e-9, its accelerations to 1e-6 (from 1e-5 s
    to 2e-6 s ours change in the ninth digit)."""
    tau = squeezer.effort_vector({"beta": 0.033})
    sim = mbros.Simulator(squeezer, dt=1e-5, integrator="rk4", state=start(squeezer))
    sim.plant.steps(tau, 3000)
    vdot = squeezer.forward_dynamics(sim.state, tau)
    for name, v in SPEEDS.items():
        at = squeezer.joint(name).v_slice.start
        assert abs(sim.state.v[at] - v) < 1e-6, name
        assert vdot[at] == pytest.approx(ACCELERATIONS[name], rel=2e-6), name
    for name, force in MULTIPLIERS.items():
        assert squeezer.constraints[f"pin of {name}"].reaction(sim.state).force[:2] == pytest.approx(force, rel=2e-6), name

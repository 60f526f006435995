"""Mechanisms with closed loops against solutions that others have published, with what they do to energy and how far they open in 10 s."""
import mbros
import numpy as np
import pytest
from loop_rigs import energy, follow

# The crank's angle, the slider's place and the rod's angle every 0.4 s, from 0.4 s to 10 s: SUNDIALS, the example
# idasSlCrank_dns (Serban and Petra) and its output, by IDAS with rtol 1e-6 and atol 1e-7 in the stabilised formulation of index 2.
SLIDER_CRANK = np.array([
    (1.5299, 0.88672, -0.52312), (1.4072, 0.95128, -0.51591), (1.2039, 1.0638, -0.48559), (0.92524, 1.2176, -0.41084),
    (0.57904, 1.3803, -0.27714), (0.17783, 1.4882, -0.088565), (-0.24460, 1.4778, 0.12138), (-0.63618, 1.3570, 0.30161),
    (-0.96169, 1.1981, 0.42254), (-1.2064, 1.0623, 0.48609), (-1.3632, 0.97518, 0.51125), (-1.4300, 0.93903, 0.51789),
    (-1.4081, 0.95081, 0.51599), (-1.2995, 1.0103, 0.50261), (-1.1080, 1.1176, 0.46386), (-0.84049, 1.2616, 0.38168),
    (-0.50621, 1.4075, 0.24487), (-0.12091, 1.4945, 0.060346), (0.27894, 1.4712, -0.13811), (0.64422, 1.3536, -0.30500),
    (0.94289, 1.2082, -0.41657), (1.1604, 1.0882, -0.47630), (1.2895, 1.0159, -0.50105), (1.3276, 0.99477, -0.50669),
    (1.2757, 1.0236, -0.49881)])
KINETIC = 3.3366160662934146          # J s: the integral of the kinetic energy, from the same run


def sundials_slider_crank(damping):
    """Crank of 0.5 m and 1 kg m^2; a rod of 1 m, 1 kg and 2 kg m^2 about its pin on a slider without mass, where its centre of mass is; a
    spring and damper between the middles of crank and rod; 1 N along x at the point a metre beyond the pin."""
    b = mbros.ModelBuilder("slider-crank", gravity=(0, 0, 0))
    crank = b.add_body("crank link", mass=1e-9, inertia=(1.0, 1.0, 1.0))
    slider = b.add_body("slider", mass=1e-12, inertia=(1e-12, 1e-12, 1e-12))
    rod = b.add_body("rod link", mass=1.0, inertia=(2.0, 2.0, 2.0))
    b.add_joint(mbros.RevoluteJoint("crank", b.world, crank, axis=(0, 0, 1)))
    b.add_joint(mbros.PrismaticJoint("slide", b.world, slider, axis=(1, 0, 0)))
    b.add_joint(mbros.RevoluteJoint("rod", slider, rod, axis=(0, 0, 1)))
    b.add_constraint(mbros.BallConstraint("pin", b.add_frame("crank end", crank, p=(0.5, 0, 0)), b.add_frame("rod end", rod, p=(-1, 0, 0))))
    middles = b.add_frame("crank middle", crank, p=(0.25, 0, 0)), b.add_frame("rod middle", rod, p=(-0.5, 0, 0))
    b.add_force_element(mbros.LinearSpringDamper(*middles, 1.0, 1.0, damping))
    return b.build()


def crank_start(model):
    state = model.default_state()
    for name, q in (("crank", np.pi / 2), ("slide", np.sqrt(0.75)), ("rod", -np.pi / 6)):
        model.joint(name).set_position(state, q)
    return state


@pytest.mark.parametrize("integrator", ["midpoint", "rk4"])
def test_slider_crank_against_sundials(integrator):
    """All digits that were printed, to what the tolerance of that run leaves of them."""
    model = sundials_slider_crank(1.0)
    sim = mbros.Simulator(model, dt=1e-3, integrator=integrator, state=crank_start(model))
    worst, gap, integral = 0.0, 0.0, 0.0
    for row in SLIDER_CRANK:
        for _ in range(400):
            before = model.kinetic_energy(sim.state)
            ahead = sim.state.q[2] + 5e-4 * sim.state.v[2]                                   # in the middle of the step
            sim.step(np.array([0.0, 1.0, -np.sin(ahead)]))
            integral += 5e-4 * (before + model.kinetic_energy(sim.state))
        worst = max(worst, np.abs(sim.state.q - row).max())
        gap = max(gap, np.abs(model.constraints["pin"].gap(sim.state)).max())
    assert worst < 1e-4 and gap < (1e-8 if integrator == "midpoint" else 1e-14)
    assert abs(integral - KINETIC) < 2e-5


@pytest.mark.parametrize("integrator, bound, gap", [("midpoint", 1e-6, 1e-8), ("rk4", 1e-10, 1e-14)])
def test_slider_crank_without_damper_keeps_its_energy(integrator, bound, gap):
    model = sundials_slider_crank(0.0)
    state = crank_start(model)
    model.joint("crank").set_velocity(state, 3.0)
    error, opened, _ = follow(model, model.assemble(state, keep="crank"), 10.0, integrator=integrator)
    assert error < bound and opened < gap


# The slider's height on the shaft at times (s, m), read to 2 mm off the curve of the reference solution of A05, "Stiff flyball governor",
# in the benchmark library of Gonzalez, Dopico, Lugris and Cuadrado (2006), as plotted by Tagliapietra, Vivian and Reggiani (MBS-BOS 2015).
# The links are springs of 8e5 N/m and 4e4 N s/m there. That curve has a point every 0.1 s.
GOVERNOR = ((0.1, 0.524), (0.5, 0.743), (0.6, 0.727), (0.9, 0.535), (1.0, 0.501), (2.0, 0.506), (3.1, 0.501), (3.6, 0.743), (4.1, 0.500),
            (4.6, 0.743), (5.1, 0.501), (6.1, 0.506), (7.2, 0.501), (7.7, 0.743), (8.2, 0.500), (8.7, 0.743), (9.7, 0.741), (10.0, 0.619))


def governor():
    """A shaft, two rods that hang from its head 0.1 m apart with 5 kg at their ends, links of 0.5 m from their middles to a slider."""
    b = mbros.ModelBuilder("governor", gravity=(0, 0, -9.81))
    thin, density = 0.01, 3000.0

    def brick(name, x, y, z):
        m = density * x * y * z
        return b.add_body(name, mass=m, inertia=(m * (y * y + z * z) / 12, m * (x * x + z * z) / 12, m * (x * x + y * y) / 12))

    shaft, slider = brick("shaft", thin, thin, 1.0), brick("slider", 0.1, 0.1, 0.1)
    b.add_joint(mbros.RevoluteJoint("turn", b.world, b.add_frame("foot", shaft, p=(0, 0, -0.5)), axis=(0, 0, 1)))
    b.add_joint(mbros.PrismaticJoint("slide", b.add_frame("foot of slider", shaft, p=(0, 0, -0.5)), slider, axis=(0, 0, 1)))
    for k, side in enumerate((1.0, -1.0)):
        m = density * thin * thin
        total, c = m + 5.0, (0.5 * m + 5.0) / (m + 5.0)
        about = m / 12 + m * (0.5 - c) ** 2 + 5.0 * (1.0 - c) ** 2
        rod = b.add_body(f"rod{k}", mass=total, com=(side * c, 0, 0), inertia=(m * thin**2 / 6, about, about))
        b.add_joint(mbros.RevoluteJoint(f"lean{k}", b.add_frame(f"head{k}", shaft, p=(side * 0.05, 0, 0.5)), rod, axis=(0, side, 0)))
        b.add_constraint(mbros.DistanceConstraint(f"link{k}", b.add_frame(f"middle{k}", rod, p=(side * 0.5, 0, 0)),
                                                  b.add_frame(f"ear{k}", slider, p=(side * 0.05, 0, 0)), 0.5))
    return b.build()


@pytest.mark.parametrize("integrator, bound, gap", [("midpoint", 1e-5, 1e-8), ("rk4", 1e-9, 1e-14)])
def test_flyball_governor_against_its_reference(integrator, bound, gap):
    model = governor()
    state = model.default_state()
    for name, q in (("slide", 0.5), ("lean0", np.pi / 6), ("lean1", np.pi / 6)):
        model.joint(name).set_position(state, q)
    model.joint("turn").set_velocity(state, 2 * np.pi)
    sim = mbros.Simulator(model, dt=1e-3, integrator=integrator, state=state)
    start, kinetic, error, opened, heights = energy(model, state), 0.0, 0.0, 0.0, {}
    for k in range(100):
        sim.plant.steps(np.zeros(model.nv), 100)
        kinetic = max(kinetic, model.kinetic_energy(sim.state))
        error = max(error, abs(energy(model, sim.state) - start))
        opened = max([opened, *(np.abs(c.gap(sim.state)).max() for c in model.constraints)])
        heights[round(0.1 * (k + 1), 1)] = model.joint("slide").position(sim.state).item()
    apart = {t: heights[t] - s for t, s in GOVERNOR}
    assert max(map(abs, apart.values())) < 2e-3, apart
    assert error / kinetic < bound and opened < gap

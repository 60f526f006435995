"""A joint kind and a force element, added to a copy of the tree as CONTRIBUTING.md says, in four files each; and a program with both."""
# The kernel, one member and one case in the dispatch, one row of the registry, the class that people write.
JOINT = {
    "mbros_core/joints/polar.pxd": '''"""Polar: rotation by q0 about Fz, then translation by q1 along Mx. v = qdot.

X_FM = (Rz(q0), q1 Mx),  H_FM columns [Fz; q1 My], [0; Mx],  Hdot v = [0; 2 v0 v1 My - q1 v0^2 Mx].
"""
from mbros_core.scalar.real cimport real, sincos
from mbros_core.spatial cimport Motion, Pose, column_x, column_y, column_z, cross, motion, rotate_about_z, zero3


cdef inline void polar_place(Pose X_WF, const real* q, Pose* X_WM, Motion* S) noexcept nogil:
    cdef real s
    cdef real c
    sincos(q[0], s, c)
    X_WM.R = rotate_about_z(X_WF.R, s, c)
    X_WM.p = X_WF.p + q[1] * column_x(X_WM.R)
    S[0] = motion(column_z(X_WF.R), q[1] * column_y(X_WM.R))
    S[1] = motion(zero3(), column_x(X_WM.R))

cdef inline Motion polar_bias(const Motion* S, const real* q, const real* v) noexcept nogil:
    return motion(zero3(), 2.0 * v[0] * v[1] * cross(S[0].w, S[1].v) - q[1] * v[0] * v[0] * S[1].v)
''',
    "mbros_core/joints/dispatch.pxd": [
        ("from mbros_core.joints.prismatic ",
         "from mbros_core.joints.polar cimport polar_bias, polar_place\nfrom mbros_core.joints.prismatic "),
        ("    USER = 14\n", "    POLAR = 14\n    USER = 15\n"),
        ("floating_rpy=FLOATING_RPY, user=USER)", "floating_rpy=FLOATING_RPY, polar=POLAR, user=USER)"),
        ("    elif j.kind == USER:\n        user_place(",
         "    elif j.kind == POLAR:\n        polar_place(X_WF, x, X_WM, S)\n    elif j.kind == USER:\n        user_place("),
        ("    if j.kind == USER:\n        return user_bias(",
         "    if j.kind == POLAR:\n        return polar_bias(S, q + j.iq, v + j.iv)\n    if j.kind == USER:\n        return user_bias(")],
    "mbros_core/joints/registry.py": [
        (")\n\nBY_NAME = ",
         '    JointKind("polar", 14, 2, 2, "rotation about Fz, then translation along Mx", ("q", "r"), ("w", "v"), ("rad", "m"),\n'
         '              ("rad/s", "m/s"), "R^2", (0.0, 0.0), (0, 2)),\n)\n\nBY_NAME = ')],
    "mbros/describe/joints/classes.py": [
        ("\nclass WeldJoint(",
         '\nclass PolarJoint(UserJoint):\n    """Rotation about Fz, then translation along Mx: q = (angle, radius)."""\n\n'
         '    __slots__ = ()\n    KIND = "polar"\n\n\nclass WeldJoint(')],
}

FORCE = {
    "mbros_core/forces/progressive_spring.pxd": '''"""Progressive spring on one joint coordinate: tau = -(k x + k3 x^3), x = q - q0.
"""
from mbros_core.scalar.real cimport real
from mbros_core.forces.element cimport ForceOut

cdef struct ProgressiveSpringNumbers:
    real position                # q0, rad or m
    real stiffness               # k, N m/rad or N/m
    real cubic_stiffness         # k3, N m/rad^3 or N/m^3


cdef inline void progressive_spring_coordinate(const ProgressiveSpringNumbers* par, real q, real v, ForceOut* out) noexcept nogil:
    cdef real x = q - par.position
    out.tau = -(par.stiffness * x + par.cubic_stiffness * x * x * x)
    out.C = real(0.0)
    out.K = par.stiffness + 3.0 * par.cubic_stiffness * x * x
    out.energy = 0.5 * par.stiffness * x * x + 0.25 * par.cubic_stiffness * x * x * x * x
    out.conservative = out.tau * v
    out.nonconservative = real(0.0)
''',
    "mbros_core/forces/dispatch.pxd": [
        ("from mbros_core.forces.spring_damper ",
         "from mbros_core.forces.progressive_spring cimport ProgressiveSpringNumbers, progressive_spring_coordinate\n"
         "from mbros_core.forces.spring_damper "),
        ("    USER_FORCE = 9\n", "    PROGRESSIVE_SPRING = 9\n    USER_FORCE = 10\n"),
        ("        user=USER_FORCE)", "        progressive_spring=PROGRESSIVE_SPRING, user=USER_FORCE)"),
        ("    elif kind == DOOR_HINGE:\n",
         "    elif kind == PROGRESSIVE_SPRING:\n        progressive_spring_coordinate(<const ProgressiveSpringNumbers*>par, q, v, out)\n"
         "    elif kind == DOOR_HINGE:\n")],
    "mbros_core/forces/registry.py": [
        (")\n\nBY_NAME = ", '    ForceKind("progressive_spring", 9, "coordinate", "linear and cubic spring on one joint coordinate",\n'
         '              ("position", "stiffness", "cubic_stiffness"), ("rad, m", "N m/rad, N/m", "N m/rad^3, N/m^3"), (None, 0.0, 0.0)),\n'
         ')\n\nBY_NAME = ')],
    "mbros/describe/forces/springs.py": [
        ("\nclass DoorHinge(",
         '\nclass ProgressiveSpring(Described):\n    """tau = -(stiffness x + cubic_stiffness x^3), x = q - position."""\n\n'
         '    kind, called = "progressive_spring", "progressive spring"\n\n'
         '    def __init__(self, joint, stiffness, cubic_stiffness, position=0.0, *, coordinate=None, name=None):\n'
         '        super().__init__(name)\n        self._on_joint(joint, coordinate)\n'
         '        self._numbers(position=position, stiffness=stiffness, cubic_stiffness=cubic_stiffness)\n\n\nclass DoorHinge(')],
}

# A body of mass m and inertia I about its centre at radius r: tau = (I + m r^2) w' + 2 m r w v,  F = m (v' - r w^2); the spring pulls
# it out to r = 1 m.
TRY = """
import numpy as np, mbros
from mbros.describe.forces.springs import ProgressiveSpring
from mbros.describe.joints.classes import PolarJoint
b = mbros.ModelBuilder("boom", gravity=(0.0, 0.0, 0.0))
m, I, q, v, vdot = 2.5, 0.31, np.array([0.7, 1.3]), np.array([-1.1, 0.4]), np.array([0.9, -2.0])
boom = b.add_joint(PolarJoint("boom", b.world, b.add_body("bob", mass=m, inertia=(0.4, 0.5, I))))
b.add_force_element(ProgressiveSpring(boom, 20.0, 300.0, position=1.0, coordinate=1, name="spring"))
model = b.build()
state = model.default_state()
state.q[:], state.v[:] = q, v
r, (w, rate) = q[1], v
x = r - 1.0
want = [(I + m * r * r) * vdot[0] + 2 * m * r * w * rate, m * (vdot[1] - r * w * w) + 20.0 * x + 300.0 * x**3]
np.testing.assert_allclose(model.forward_dynamics(state, want), vdot, rtol=1e-13)
np.testing.assert_allclose(model.pose(state, "bob").p, [r * np.cos(q[0]), r * np.sin(q[0]), 0.0], atol=1e-15)
assert not (model._has_slopes(True) or model._has_slopes(False)), "without analytic terms, derivatives are by dual numbers"
sim = mbros.Simulator(model, dt=1e-4, integrator="rk4", state=state)
energy = sim.run(0.5).energy
assert abs(energy - energy[0]).max() < 1e-9 * energy[0], energy
print(model.joint("boom").kind, *model.position_names, model.force_elements["spring"].kind)
"""


def changed(tree, edits):
    """Make the edits: a text is a new file, pairs are replacements, each of which must fit exactly once."""
    for name, edit in edits.items():
        path = tree / name
        if isinstance(edit, str):
            assert not path.exists()
            path.write_text(edit)
            continue
        text = path.read_text()
        for old, new in edit:
            assert text.count(old) == 1, (name, old)
            text = text.replace(old, new)
        path.write_text(text)

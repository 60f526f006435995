"""docs/forces.md, made from the registry: python -m docs.generate.forces > docs/forces.md

Parameters and units are the registry's rows; what is here is the equation of each kind, in words and symbols. A test fails when
a kind has none or the page is not current.
"""
from __future__ import annotations

from mbros_core.forces.registry import ROWS

from mbros.describe.forces.groups import Group, groups
from mbros.model.forces.kinds import CLASSES

# kind: (heading, class, URDF tag, equation lines, remarks)
KINDS = {
    "bushing": (
        "Linear bushing on roll, pitch, yaw", "mbros.LinearBushingRollPitchYaw(frame_A, frame_C, ...)", "mbros:bushing",
        ["q = (roll, pitch, yaw) of R_AC,  qdot = N(q) w_AC", "tau_i = -(k_i q_i + d_i qdot_i),  torque on C in A: t = N^T tau",
         "R_AB: the axis of R_AC, half its angle;  [x y z] = R_AB^T p_AoCo",
         "[xdot ydot zdot] = R_AB^T (v_ACo - w_AB x p_AoCo),  w_AB = w_AC / 2",
         "force on C in B, through the midpoint Bo: f_j = -(kx_j x_j + dx_j xdot_j)", "energy = sum k_i q_i^2 / 2 + sum kx_j x_j^2 / 2"],
        "Drake's law. Its power is the derivative of that energy only where the three force stiffnesses are equal or the axis of "
        "rotation stays. Gimbal lock: within 0.4584 degrees of a pitch of +-90 degrees every evaluation raises GimbalLockError. "
        "Torques jump where roll or yaw passes +-180 degrees. A and C are not interchangeable. Patterns for joints: "
        "`Bushing.revolute_z`, `prismatic_x`, `ball`, `weld`. Constants: `mbros.bushing_design`."),
    "bushing_energy_consistent": (
        "Linear bushing, energy-consistent", 'mbros.LinearBushingRollPitchYaw(..., law="energy_consistent")',
        'mbros:bushing law="energy_consistent"',
        ["as above, with the exact rate of the half-way frame: w_AB = (1 + R_AB)^-1 w_AC",
         "moment on C about Co, in A: t - (1 + R_AB)^-T (p_AoCo x f)"],
        "The power of the springs is the falling rate of the stored energy, always. What is given up: the moments of f about Ao and "
        "Co are no longer equal."),
    "bushing_quaternion": (
        "Linear bushing on the quaternion", 'mbros.LinearBushingRollPitchYaw(..., law="quaternion")', 'mbros:bushing law="quaternion"',
        ["q = 2 eps of the unit quaternion (eta, eps) of R_AC,  qdot = N w_AC,  N = eta - [eps]",
         "the rest as in the energy-consistent law"],
        "Smooth for every rotation: no gimbal lock and no jump of the torque. For small angles it is the others; about one axis the "
        "torque is "
        "-k sin(angle). Only the half-way frame turns over at 180 degrees, which unequal force stiffnesses and force damping feel."),
    "spring_damper": (
        "Spring and damper between two points", "mbros.LinearSpringDamper(frame_A, frame_C, free_length, stiffness, damping)",
        "mbros:spring_damper",
        ["l = |p_AoCo|,  pull = k (l - l0) + c ldot, along the line", "energy = k (l - l0)^2 / 2"],
        "No direction, hence no force, where the two points coincide."),
    "joint_spring": (
        "Spring on a joint coordinate",
        "mbros.JointSpring(joint, position, stiffness, damping); RevoluteSpring = TorsionSpring, PrismaticSpring",
        "mbros:joint_spring", ["tau = -k (q - q0) - c v", "energy = k (q - q0)^2 / 2"],
        "On any coordinate whose velocity is the rate of its position. Implicit where stiff in the midpoint step, "
        "so any is stable ([integrators.md](integrators.md))."),
    "door_hinge": (
        "Door hinge", "mbros.DoorHinge(joint, ...)", "mbros:door_hinge",
        ["s(x) = tanh x,  d(x) = 2 s (1 - s^2)",
         "tau = -k (q - q0) + k_c d((q - q_c/2) / (q_c/2)) - f_d s(v / v_0) - f_s d(v / v_0) - c v",
         "energy = k (q - q0)^2 / 2 + k_c (q_c / 2) (1 - s((q - q_c/2) / (q_c/2))^2)"],
        "Drake's DoorHinge: k_c catch_torque, q_c catch_width, f_d dynamic, f_s static, c viscous friction, v_0 motion_threshold."),
    "stribeck": (
        "Coulomb, Stribeck and viscous friction", "mbros.StribeckFriction(joint, coulomb, breakaway, ...)", "mbros:stribeck",
        ["tau = -(f_c + (f_s - f_c) exp(-(v / v_b)^2)) v / sqrt(v^2 + v_0^2) - c v", "energy = 0"],
        "f_c coulomb, f_s breakaway, v_b stribeck_speed, v_0 smoothing_speed, c viscous. It only dissipates."),
    "body_wrench": (
        "Wrench on a body", "mbros.BodyWrench(body, torque, force, expressed_in=\"world\" or \"body\")", "mbros:body_wrench",
        ["torque and force at the frame's origin, constant in the world's axes or in the frame's",
         "energy = -f . p in the world's axes, else 0"],
        "What has no potential (torques, and forces that turn with the body) is non-conservative power, of either sign."),
    "body_gravity": (
        "Gravity of one body", "mbros.BodyGravity(body, gravity, mass, com)", "mbros:body_gravity",
        ["force m g at the centre of mass", "energy = -m g . p_WCcm"], "Beside the model's gravity; with its reverse the body floats."),
}
STOP = ("Stops", "mbros.JointStop(joint, stiffness, damping, lower, upper)", "mbros:stop",
        ["tau = -max(0, k x + c v) beyond a limit, x how far; it never pulls", "energy = k x^2 / 2"],
        """Where nobody gives a stiffness, it is that of [integrators](integrators.md#damping-friction-stops). Is that too soft for the
size of a mechanism, so that the weight of all that the coordinate moves, with its whole arm, would press the stop in by more than a
hundredth of the range between the limits (links below some 10 cm, long chains), or is the range below 0.1 rad or 1 cm, the stop
holds weight and effort limit within 1e-4 of the range, and a note of `mbros check` says so. A pendulum of 4 mm then has 4950 rad/s.
To lie still on it takes steps of its own pace, below 2 / frequency; at longer ones it trembles by g h / 2. `rk4` is unstable on it
beyond 2.8 / frequency.

Every joint limit has one; in `model.force_elements` under `<joint>.stop`.""")
HEAD = """# Force elements

Made by `python -m docs.generate.forces`; the equations are in `mbros_core/forces`, one file per kind.

```python
import mbros

b = mbros.ModelBuilder("rig")
plate = b.add_body("plate", mass=2.0, com=(0, 0, 0), inertia=(0.1, 0.1, 0.2))
b.add_joint(mbros.PlanarJoint("slide", b.world, plate))
b.add_force_element(mbros.LinearBushingRollPitchYaw(b.world, plate, torque_stiffness=(10, 10, 10), force_stiffness=1e3, name="mount"))
model = b.build()
state = model.default_state()

f = model.force_elements["mount"]                                    # or by number
f.spatial_force_on_frame_A(state), f.spatial_force_on_frame_C(state)
f.potential_energy(state), f.conservative_power(state), f.nonconservative_power(state)
f.torque_stiffness, f.get_torque_stiffness(state), f.set_torque_stiffness(state, (20, 20, 20))
f.generalized_force(state), f.add_forces(state, mbros.Forces(model))
f.measure(state).angles                                              # what a bushing measures
```

Every element gives a wrench (or a generalized force), the energy it stores and its powers: conservative = -d(energy)/dt, and
the rest, which is never positive for springs, dampers and friction. A pair acts between frame A and frame C, equal and
opposite. A value below the least one is refused, in the constructor and in every setter, and changes nothing. A bushing adds
about 100 ns to a step; between two bodies elements may have any stiffness ([how](integrators.md)). In a URDF all of them are elements of
`<robot>` whose attributes are the parameters:

```xml
<frame name="mount_a" link="base" xyz="0 0 0.1" rpy="0 0 0"/>
<mbros:bushing name="mount" frame_A="mount_a" frame_C="plate" torque_stiffness="10 10 10" force_stiffness="1e3"/>
<mbros:joint_spring joint="elbow" position="0.1" stiffness="5"/>
```

Drake's `<drake:linear_bushing_rpy>` is read too. `frame_A`, `frame_C` and `frame` name a link, a `<frame>` or `world`.

![energy of an undamped bushing over a minute](pictures/bushing_energy.svg)

Total energy of a body on an undamped bushing with unequal force stiffnesses and a turning axis, RK4 at 1 ms: `law="drake"` gains
and loses percents, `law="energy_consistent"` keeps it to the integrator's error.

The pictures below are drawn by `docs/pictures/force_pictures.py` from what the engine computes: force f and torque t as arrows, or
the effort on a joint over its position and its velocity.
"""
OWN = """
## Of one's own

`class MySpring(mbros.ForceElement)` with `wrench(pose, velocity)` and `energy(pose)`: slow, not in the real-time loop
(`examples/force_in_python.py`). In C or Cython through `mbros_core/user.hpp` and `mbros.CompiledForceElement`: at full speed, in
the real-time loop too (`examples/force_in_cython`). Acts between two frames, as a pair.
"""


def section(kind, row, heading, called, tag, equations, remarks) -> str:
    kinds = f" &nbsp; kind `{kind}`" if row else ""
    lines = [f"\n## {heading}\n", f"`{called}` &nbsp; `<{tag} .../>`{kinds}", "", f"![{heading}](pictures/force_{kind}.svg)", "",
             "```text", *equations, "```", "", remarks, "", "Parameters: "
             + "; ".join(parameter(name, group) for name, group in groups_of(kind, row).items()) + "."]
    return "\n".join(lines) + "\n"


def groups_of(kind, row):
    return groups(kind) if row else {"stiffness": Group("stiffness", 0, 1, "N m/rad, N/m", 0.0),
                                     "damping": Group("damping", 1, 1, "N m s/rad, N s/m", 0.0)}


def parameter(name, group) -> str:
    """`torque_stiffness` (3) N m/rad, at least 0"""
    return (f"`{name}`" + (f" ({group.size})" if group.size > 1 else "") + (f" {group.unit}" if group.unit else "")
            + ("" if group.least is None else f", at least {group.least:g}"))


def page() -> str:
    """The whole of docs/forces.md."""
    rows = [row for row in ROWS if row.name != "user"]
    missing = [row.name for row in rows if row.name not in KINDS or row.name not in CLASSES]
    if missing:
        raise LookupError(f"docs.generate.forces has no equation for {', '.join(missing)}")
    parts = [section(row.name, row, *KINDS[row.name]) for row in rows]
    return HEAD + "".join(parts) + section("stop", None, *STOP) + OWN


if __name__ == "__main__":
    print(page(), end="")

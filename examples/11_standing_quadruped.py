"""A quadruped stands on the ground by PD control and is pushed from the side: what its feet feel.

    python examples/11_standing_quadruped.py
"""
import numpy as np

import mbros

LEGS = ("FL", "FR", "RL", "RR")
model = mbros.load("quadruped", ground=True)            # its collision shapes, and a ground below it
state = model.default_state()
for leg in LEGS:
    model.joint(f"{leg}_thigh_joint").set_position(state, 0.75)         # the feet below the hips
    model.joint(f"{leg}_calf_joint").set_position(state, -1.5)
base = model.joint("base")
lowest = min(model.pose(state, f"{leg}_foot").p[2] for leg in LEGS)
base.set_pose(state, p=(0.0, 0.0, base.position(state)[2] - lowest + 0.021))
stance, first = state.q.copy(), base.v_slice.stop       # the efforts of the legs come after those of the base, which has no motor


def stand(time, state):
    """Springs and dampers pull every joint of the legs to where it was: 150 N m/rad, 4 N m s/rad."""
    tau = np.zeros(model.nv)
    tau[first:] = 150.0 * (stance[first + 1:] - state.q[first + 1:]) - 4.0 * state.v[first:]
    return tau


def report(log):
    y, z = log.q[-1, 1:3]
    if z < 0.2:
        return "it has fallen over"
    return f"trunk at y {y:.3f} m, z {z:.3f} m, feet carry " + ", ".join(
        f"{leg} {log.contact_force(f'{leg}_foot')[-1, 2]:.1f} N" for leg in LEGS)


sim = mbros.Simulator(model, dt=1e-3, state=state)
log = sim.run(1.0, effort=stand)
total = sum(log.contact_force(f"{leg}_foot")[-1, 2] for leg in LEGS)
print(f"{log.contacts[-1]:.0f} feet carry {total:.1f} N, the weight is {9.81 * sum(body.mass for body in model.description.bodies):.1f} N")
print(f"standing: {report(log)}")

for push in (20.0, 150.0, 300.0):
    model.apply_wrench(sim.state, "trunk", force=(0.0, push, 0.0))      # from the side, until it is taken away
    log = sim.run(0.1, effort=stand)
    friction = sum(c.friction_force[1] for c in model.contacts(sim.state))
    print(f"pushed with {push:.0f} N, the ground pushes back with {-friction:.1f} N through {log.contacts[-1]:.0f} feet")
    model.clear_wrenches(sim.state)
    print(f"  a second later: {report(sim.run(1.0, effort=stand))}")

# Output:
# 4 feet carry 160.0 N, the weight is 160.1 N
# standing: trunk at y 0.000 m, z 0.317 m, feet carry FL 37.6 N, FR 37.6 N, RL 42.4 N, RR 42.4 N
# pushed with 20 N, the ground pushes back with 25.6 N through 4 feet
#   a second later: trunk at y -0.000 m, z 0.317 m, feet carry FL 37.4 N, FR 37.4 N, RL 42.6 N, RR 42.6 N
# pushed with 150 N, the ground pushes back with 84.3 N through 2 feet
#   a second later: trunk at y 0.012 m, z 0.318 m, feet carry FL 50.6 N, FR 23.8 N, RL 54.8 N, RR 32.8 N
# pushed with 300 N, the ground pushes back with 62.3 N through 2 feet
#   a second later: it has fallen over

"""A bushing mount and its energy account: what is stored, what moves, and what has become heat.

    python examples/06_bushing_mount.py
"""
import numpy as np

import mbros

# An engine of 120 kg on one rubber mount, which resists all six directions of motion (roll-pitch-yaw bushing, as in Drake).
b = mbros.ModelBuilder("engine mount", gravity=(0, 0, -9.81))
engine = b.add_body("engine", mass=120.0, com=(0.05, 0, 0.1), inertia=np.diag([4.0, 6.0, 5.0]))
b.add_joint(mbros.FloatingJoint("free", b.world, engine))
b.add_force_element(mbros.LinearBushingRollPitchYaw(
    b.world.frame, engine.frame, name="mount",
    torque_stiffness=(8e3, 8e3, 6e3), torque_damping=(40, 40, 30),                     # N m/rad, N m s/rad
    force_stiffness=(2e5, 2e5, 4e5), force_damping=(900, 900, 1500)))                  # N/m, N s/m
model = b.build()
mount = model.force_elements["mount"]

# Let go from above, tilted.
state = model.default_state()
model.joint("free").set_pose(state, p=(0.004, 0.0, 0.01), rpy=(0.05, -0.04, 0.02))
sim = mbros.Simulator(model, dt=1e-4, integrator="rk4", state=state)

print(" time   kinetic   mount   gravity    heat       sum    force on the engine")
heat, power = 0.0, -mount.nonconservative_power(state)
for step in range(15001):
    if step % 2500 == 0:
        kinetic, stored = model.kinetic_energy(state), mount.potential_energy(state)
        gravity = model.potential_energy(state) - stored
        total = kinetic + stored + gravity + heat
        print(f"{sim.time:5.2f} s {kinetic:7.3f} {stored:8.3f} {gravity:9.3f} {heat:8.3f} {total:10.5f} J   "
              f"{np.linalg.norm(mount.spatial_force_on_frame_C(state).force):8.1f} N")
    sim.step()
    before, power = power, -mount.nonconservative_power(state)
    heat += 0.5 * (before + power) * sim.dt                                             # trapezoidal rule

p = model.pose(state, "engine").p
print(f"it settles {-1e3 * p[2]:.2f} mm low; the weight alone over the stiffness is {1e3 * 120 * 9.81 / 4e5:.2f} mm")

# Output:
#  time   kinetic   mount   gravity    heat       sum    force on the engine
#  0.00 s   0.000   39.034   131.605    0.000  170.63819 J     4054.7 N
#  0.25 s   3.080    4.012   114.487   49.059  170.63856 J     1452.2 N
#  0.50 s   0.646    2.885   113.366   53.742  170.63860 J     1175.5 N
#  0.75 s   0.041    2.872   113.192   54.533  170.63861 J     1246.5 N
#  1.00 s   0.091    2.121   113.661   54.765  170.63861 J     1192.7 N
#  1.25 s   0.014    1.850   113.935   54.840  170.63861 J     1166.1 N
#  1.50 s   0.002    1.861   113.916   54.859  170.63861 J     1169.2 N
# it settles 2.92 mm low; the weight alone over the stiffness is 2.94 mm

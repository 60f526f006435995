"""First motion: load a robot, hold it against gravity, let it go, and look at what happened.

    python examples/01_first_motion.py
"""
import mbros

model = mbros.load("arm7")                      # a built-in name, the path of a .urdf or .xacro file, or URDF text
print(model)

# A state holds q, v, the time and every parameter. Its arrays are NumPy views: write to them at any time (SI units, rad).
state = model.default_state()
state.q[1] = 0.5
print("flange at", model.pose(state, "flange").p.round(4), "m")

# A simulator steps a model through time. The efforts are what inverse dynamics asks for: here, those that hold it still.
sim = mbros.Simulator(model, dt=1e-3, state=state)
log = sim.run(1.0, effort=lambda time, state: model.gravity_torques(state))
print(f"held for {log.time[-1]:.1f} s: joint2 at {log['joint2'].position[-1]:.4f} rad")

# Without efforts it falls, and the first joint to arrive at a stop is joint2.
log = sim.run(1.0)
joint2 = log["joint2"]
print(f"let go: joint2 at {joint2.position[-1]:.4f} rad after 1 s, its stop is at {model.joint('joint2').limits.position.upper[0]} rad")
print(f"fastest: {joint2.velocity.max():.2f} rad/s, at {log.time[joint2.velocity.argmax()]:.3f} s")
print(f"energy: {log.energy[0]:.1f} J at first, {log.energy[-1]:.1f} J at last")

# log.plot(path="first_motion.png") draws all of it (pip install "mbros[plot]").

# Output:
# <Model 'arm7': 9 joints, nq 7, nv 7>
# flange at [0.4435 0.     1.1518] m
# held for 1.0 s: joint2 at 0.5000 rad
# let go: joint2 at 2.0013 rad after 1 s, its stop is at 2.0 rad
# fastest: 5.61 rad/s, at 1.592 s
# energy: 100.1 J at first, 28.5 J at last

"""Build a robot in Python: an overhead crane, a trolley on a rail with a load on a rope.

    python examples/02_build_a_robot.py
"""
import numpy as np

import mbros

TROLLEY, LOAD, ROPE = 200.0, 500.0, 6.0         # kg, kg, m

b = mbros.ModelBuilder("crane", gravity=(0, 0, -9.81))

# A body has a mass, a centre of mass and an inertia about it; a joint places it on another body. The world is a body too.
trolley = b.add_body("trolley", mass=TROLLEY, inertia=np.diag([10.0, 10.0, 10.0]))
b.add_joint(mbros.PrismaticJoint("rail", b.world, trolley, axis=(1, 0, 0), lower=-10, upper=10, effort=2000, damping=50))

# The rope has no mass of its own: the load is a body whose centre of mass is a rope's length below the joint.
load = b.add_body("load", mass=LOAD, com=(0, 0, -ROPE), inertia=np.diag([20.0, 20.0, 20.0]))
b.add_joint(mbros.UniversalJoint("rope", trolley, load))
b.add_frame("hook", load, p=(0, 0, -ROPE))

crane = b.build()                               # checks everything; errors name the part, the reason and the remedy
for joint in crane.joints:
    print(joint)

# Does it swing as it should? Small swings with the trolley held: w^2 = m g l / (I + m l^2).
state = crane.default_state()
crane.joint("rail").lock(state)
crane.joint("rope").set_position(state, [0.0, 0.02])
log = mbros.Simulator(crane, dt=1e-3, integrator="rk4", state=state).run(30.0)
swing = log["rope"].position[:, 1]
crossings = log.time[1:][(swing[1:] > 0) & (swing[:-1] <= 0)]
period = np.diff(crossings).mean()
formula = 2 * np.pi * np.sqrt((20.0 + LOAD * ROPE**2) / (LOAD * 9.81 * ROPE))
print(f"period {period:.3f} s, the formula gives {formula:.3f} s")

# Push the trolley for two seconds: the load stays behind.
crane.joint("rail").unlock(state)
sim = mbros.Simulator(crane)
log = sim.run(2.0, effort={"rail": 1000.0})
hook = crane.pose(sim.state, "hook").p
print(f"after a push of 1000 N for 2 s: trolley at {log['rail'].position[-1]:.2f} m, hook at {hook[0]:.2f} m, {hook[2] + ROPE:.2f} m up")

# Output:
# <Joint 'rail': prismatic, 'world' to 'trolley'>
# <Joint 'rope': universal, 'trolley' to 'load'>
# period 4.917 s, the formula gives 4.917 s
# after a push of 1000 N for 2 s: trolley at 3.23 m, hook at 2.39 m, 0.06 m up

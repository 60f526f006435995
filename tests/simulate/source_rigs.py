"""A cart with a pole, whose cart has a source, and samples for it."""
import mbros
import numpy as np
from bench_rigs import bench

H = 1e-3


def cart_pole():
    b = mbros.ModelBuilder("driven")
    cart = b.add_body("cart", mass=2.0, com=(0, 0, 0), inertia=(0.1, 0.1, 0.1))
    pole = b.add_body("pole", mass=1.0, com=(0, 0, -0.5), inertia=(0.02, 0.02, 0.001))
    b.add_joint(mbros.PrismaticJoint("cart", b.world, cart, axis=(1, 0, 0)))
    b.add_joint(mbros.RevoluteJoint("pole", cart, pole, axis=(0, 1, 0)))
    return b.build()


def swing(t, offset=0.0):
    return offset + 0.1 * np.sin(5 * t), 0.5 * np.cos(5 * t), -2.5 * np.sin(5 * t)


def rig(*more, **words):
    return mbros.Simulator(cart_pole(), bench=bench(mbros.JointSource("hardware", joint="cart", **words), *more))


def sample(sim, motion=swing, **words):
    q, v, _ = motion(sim.time)
    sim.feed(position={"cart": q}, velocity={"cart": v}, **words)


def follow(sim, until, motion=swing, every=1):
    """Steps with a sample before each every-th; q and v (n, 2) of the cart after each step."""
    out = []
    for k in range(round((until - sim.time) / H)):
        if k % every == 0:
            sample(sim, motion)
        sim.step()
        out.append((sim.state.q[0], sim.state.v[0]))
    return np.array(out)


def real(motion=swing, **words):
    sim = rig(**words)
    sim.state.q[0], sim.state.v[0], _ = motion(0.0)
    sample(sim, motion)
    sim.sources["cart"] = "real"
    return sim

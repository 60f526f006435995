"""Models are shared by threads, states are not: every thread gets the numbers it would get alone."""
import threading
import time

import numpy as np
import robots
import zoo

import mbros_core


def work(model, q0, tau, out, k):
    plant = mbros_core.Plant(model, model.default_state(), integrator="rk4")
    plant.reset(q=q0)
    for _ in range(20):
        plant.steps(tau, 50)
    out[k] = np.concatenate([plant.state.q, plant.state.v])


def test_one_model_many_threads(rng):
    model, n = robots.model("floating_tree"), 6
    starts = [zoo.random_q(model.spec, rng) for _ in range(n)]
    efforts = rng.normal(size=(n, model.nv))
    alone, together = [None] * n, [None] * n
    for k in range(n):
        work(model, starts[k], efforts[k], alone, k)
    threads = [threading.Thread(target=work, args=(model, starts[k], efforts[k], together, k)) for k in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for k in range(n):
        assert np.array_equal(alone[k], together[k])


def test_long_runs_let_other_python_threads_work():
    """`steps` and batches release the interpreter lock: a counter in another thread goes on while they run."""
    model = robots.model("long_chain")
    plant = mbros_core.Plant(model, model.default_state())
    batch, n = mbros_core.Batch(model), 20_000
    q, v, tau = np.zeros((n, 30)), np.zeros((n, 30)), np.zeros((n, 30))
    for call in (lambda: plant.steps(np.zeros(30), n), lambda: batch.forward_dynamics(q, v, tau, np.empty_like(tau))):
        thread = threading.Thread(target=call)
        thread.start()
        ticks = 0
        while thread.is_alive():
            ticks += 1
            time.sleep(0.001)
        # with the lock held throughout, this thread would wake once or twice: after the call
        assert ticks > 5

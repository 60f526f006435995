"""Recordings of robots that follow sines under a controller, with noise on what they measure, as a bag would have them."""
import numpy as np
import mbros
from mbros.record.mcap_file import McapFile
from mbros.record.ros_layouts import joint_state, put_stamps

EPOCH = 1_700_000_000 * 10**9
EVERY = 4               # steps from state to state, and from command to command


def motion(model, state, rng, seconds=2.0, delay=0, gain=60.0, reach=0.4):
    """(q, v, commands) of every EVERY-th step of 1 ms; commands act `delay` steps late."""
    sim = mbros.Simulator(model)
    for name in model.parameter_names:
        model.set_parameter(sim.state, name, model.parameter(state, name))
    steps, n = round(seconds / sim.dt), model.nv
    pace, phase = rng.uniform(4.0, 9.0, n), rng.uniform(0, 6.28, n)
    sent, q, v = np.zeros((steps, n)), [], []
    sim.state.q[:], sim.state.v[:] = reach * np.sin(phase), reach * pace * np.cos(phase)
    for k in range(steps):
        if k % EVERY == 0:
            q.append(sim.state.q.copy())
            v.append(sim.state.v.copy())
            wanted, rate = reach * np.sin(pace * k * 1e-3 + phase), reach * pace * np.cos(pace * k * 1e-3 + phase)
            force = model.bias_torques(sim.state) + model.mass_matrix(sim.state) @ (gain * (wanted - q[-1]) + 12.0 * (rate - v[-1]))
        sent[k] = force
        sim.step(sent[max(k - delay, 0)])
    return np.array(q), np.array(v), sent[::EVERY]


def write(path, model, q, v, sent):
    """The states, and the commands, as JointState messages; v None: not measured."""
    stamps = EPOCH + np.arange(len(q)) * EVERY * 10**6
    write_topics(path, model, {"/joint_states": (stamps, q, v, None), "/joint_commands": (stamps, None, None, sent)})


def write_topics(path, model, rows):
    """JointState messages, {topic: (stamps in ns, positions, velocities, efforts)}; None: not measured."""
    file, layout = McapFile(path), joint_state(model.joint_state_names)
    for topic, (stamps, *parts) in rows.items():
        file.channel(topic, layout.name, layout.definition)
        messages = layout.messages(len(stamps))
        put_stamps(messages, stamps)
        for name, x in zip(("position", "velocity", "effort"), parts):
            messages[name] = np.nan if x is None else x
        file.add(topic, stamps.tolist(), messages)
    file.close()

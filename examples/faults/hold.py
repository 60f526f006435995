"""A controller for mbros faults: holds a pose by computed torque, from the encoders alone."""
import numpy as np

POSE = {"joint2": 0.3, "joint4": -0.45, "joint6": 0.4}


class Hold:
    """Made anew for every case, from the model."""

    def __init__(self, model):
        self.model, self.state = model, model.default_state()
        self.names = [joint.name for joint in model.joints if joint.nv]
        self.goal = np.array([POSE.get(name, 0.0) for name in self.names])

    def efforts(self, q, v):
        self.state.q[:], self.state.v[:] = q, v
        vdot = 64.0 * (self.goal - q) - 16.0 * v
        return self.model.inverse_dynamics(self.state, vdot)

    def __call__(self, time, signals):
        q, v = (np.array([signals[f"{name}.encoder.{word}"].value for name in self.names]) for word in ("position", "velocity"))
        if np.isnan(q).any() or np.isnan(v).any():
            return None                                         # nothing has been read yet
        return {"effort": dict(zip(self.names, self.efforts(q, v)))}

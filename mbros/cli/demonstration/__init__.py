"""The demonstration: a robot in the real-time loop, and a controller that takes it from pose to pose by torques."""

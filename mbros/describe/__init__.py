"""The description of a robot: bodies, joints, forces, shapes. Nothing is checked yet; check_* report what cannot be."""

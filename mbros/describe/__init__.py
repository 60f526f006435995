"""What somebody says of a robot: bodies, joints, forces, shapes. Nothing is believed yet: check_* say what cannot be."""

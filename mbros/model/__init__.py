"""A built robot that answers: names, joints, forces, parameters, algorithms. It does not change."""

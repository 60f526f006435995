"""Force elements of a model: wrenches, energy, powers and parameters in a state."""

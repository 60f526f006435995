"""What of the HPP seed document mbros.collision serves: (id, public name, note)."""

ROWS = [
    ("HJ-46", "mbros.CollisionPairs",
     "an object of its own beside the immutable model: add, add_all, remove, add_obstacle, in_collision(state), distances(state). "
     "Distances are negative where shapes penetrate. Needs mbros[collision]"),
]

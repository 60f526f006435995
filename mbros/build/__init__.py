"""From a description to a model: ModelBuilder, load, the robots shipped with mbros, and the compiler to the engine's tables."""

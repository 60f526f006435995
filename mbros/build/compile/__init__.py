"""A description becomes the engine's spec (mbros_core.spec) and the tables that say where each named part went."""

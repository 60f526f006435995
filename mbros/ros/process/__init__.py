"""The process of a node: arguments, signals, middleware, its end."""

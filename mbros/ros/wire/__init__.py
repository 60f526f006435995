"""Messages, topics and the data plane."""

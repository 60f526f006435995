"""Many simulations, each a case of its own: on this machine's processors or on others', to the same bits, and resumable."""

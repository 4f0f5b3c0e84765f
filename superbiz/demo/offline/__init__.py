"""The plain rules of the demo model: no network, no learning, the same answer to the same conversation."""

"""Real clients at the doors of a real server: `make test-doors`."""

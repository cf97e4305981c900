"""The documents' experiments, repeated in the simulator: published figures beside ours."""

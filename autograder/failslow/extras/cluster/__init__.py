"""Replicas as processes of their own on this machine's loopback, which outlive `kit`."""

"""Mutation by machine: small changes of the reference, each of which a test should notice."""

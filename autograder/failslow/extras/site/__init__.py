"""The handbook: generates its reference pages, builds it, and checks the result."""

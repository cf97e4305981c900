"""The handbook: generates its reference pages, builds it, and looks at what came out."""

"""The base of all other packages: paths, processes, console, files."""

"""What every other room stands on: paths, processes, console, files."""

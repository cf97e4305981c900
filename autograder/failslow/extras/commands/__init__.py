"""The kit's commands, one module each. Each returns an exit code or raises CannotDo."""

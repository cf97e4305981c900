// The source of targets without sources of their own.

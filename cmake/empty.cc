// Of targets without sources of their own.

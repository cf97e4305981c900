"""A page that shows a running cluster, from the files in its data directory alone.

It imports the standard library only: the containers' image has nothing else.
"""

"""The slow-follower measurement: does a submission stay fast when a minority is slow?

`runs` lists the runs, whose seeds come from `seeds`, and `binary` runs them. `figures` compares two
runs, and `scoring` judges (pure functions). `explain` puts a loss into words. `measure` joins them.
"""

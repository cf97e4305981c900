"""The slow-follower measurement: does a submission stay fast when a minority is slow?

`runs` lists the runs, `binary` runs them, `scoring` judges the numbers (pure functions), `explain`
puts a failure into words, and `measure` joins them.
"""

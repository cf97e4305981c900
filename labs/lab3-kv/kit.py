"""The knowledge of lab 3 alone: see failslow/extras/lab_kits.py."""

NAMES_FAULTY_STEPS = True

MANY_SEEDS = ("KvChaos.ThreeReplicasStayLinearizable", "KvChaos.FiveReplicasStayLinearizable")
"""The swarms that check linearizability: violations may be rare."""

"""The paper's figures and tables as runs: what there is to train, what has been, and pages of it."""

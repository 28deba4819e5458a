"""What several test files use: examples, oracles, forgeries, and runs small enough to test with."""

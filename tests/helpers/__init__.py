"""Code that several test files share: examples, oracles, forgeries, and runs small enough to test with."""

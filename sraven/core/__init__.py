"""What every task of the benchmark shares."""

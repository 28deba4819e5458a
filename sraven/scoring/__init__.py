"""Scores of predictions: metrics over sums, bootstrap intervals, kinds of errors. It knows no boards."""

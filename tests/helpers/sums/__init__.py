"""Modular sums of two terms: a complete toy family, to see what a third task of the benchmark takes.

An instance shows pairs (a, b) with w1 * a + w2 * b modulo P, and asks for the sum of one more pair. A
combination is the pair of weights (w1, w2); some are held out of training.
"""

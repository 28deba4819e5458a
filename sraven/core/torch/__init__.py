"""Instances for PyTorch. Nothing outside this wing, and the modules that families name, imports it."""

"""Tasks: their versions, random access to their instances, digests and tables."""

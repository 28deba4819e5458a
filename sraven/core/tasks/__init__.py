"""What a task is: its versions, random access to its instances, their digests and tables."""

"""The operating system: atomic files and directories, locks, private folders, safe imports."""

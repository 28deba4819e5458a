"""The operating system: atomic files and directories, locks, private folders, isolation from the working directory."""

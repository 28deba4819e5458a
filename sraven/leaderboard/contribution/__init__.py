"""Pull requests: what they may change, and opening one."""

"""What the machine gives: files that appear whole or not at all, locks, and who else has power over them."""

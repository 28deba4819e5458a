"""What a pull request may change."""

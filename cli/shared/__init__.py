"""Parts that commands share: options, printing and progress."""

"""What commands share: options, how they print, and how they show where they are."""

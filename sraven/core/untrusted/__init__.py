"""Reading what strangers send."""

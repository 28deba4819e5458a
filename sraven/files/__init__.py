"""Files: read and written whole, locked, and what strangers may have put into them."""

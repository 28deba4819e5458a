"""The leaderboard's page."""

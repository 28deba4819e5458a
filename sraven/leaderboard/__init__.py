"""The leaderboard: what is filed, who is ranked, and why."""

"""The puzzles where language models are evaluated and trained: inspect-ai, lm-eval, TRL, reasoning-gym.

Each module is for one of them, and nothing else imports it. All ask what `sraven.harness.questions` returns,
and judge as `sraven.text` does.
"""

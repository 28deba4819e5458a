"""Datasets on the Hugging Face Hub: put there whole, and checked there without a download."""

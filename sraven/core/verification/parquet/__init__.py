"""A strict reader of Parquet: its pages, and what a file claims of them."""

"""Language modelling on C4: documents to shards of tokens, and shards to batches."""

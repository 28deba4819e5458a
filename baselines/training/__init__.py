"""Training: steps, optimisers, batches, meshes, the loop, grids."""

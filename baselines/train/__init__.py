"""Training and run directories: steps, optimisers, meshes, the loop, grids; checkpoints, log, result."""

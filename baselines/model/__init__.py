"""The transformer and its parts: pure functions on arrays first, modules that hold parameters second.

Names of arrays end in their axes, a capital letter each; an axis that broadcasts is written 1.

======  =======================================================
letter  axis
======  =======================================================
B       instances of a batch
T       tokens of a sequence
Q, K    positions of queries, and of keys and values
H       heads: the latent code of a query and key
D       width of one head's query and key
V       width of one head's value (W where it occurs twice)
E       width of the embedding
F       hidden width of a feed-forward layer
I, O    numbers of a token that comes in, and that goes out
X, C    experts, and those that a token chooses
R       relations of dual attention, and its relational heads
N       buckets of relative positions, or pieces of the vocabulary
S, L    chunks of a sequence, and tokens of a chunk
======  =======================================================
"""

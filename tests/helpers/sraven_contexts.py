"""Contexts of SRAVEN that no task draws, for tests with hypothesis."""

import numpy as np
from hypothesis import strategies as st

from helpers import oracle


@st.composite
def degenerate_contexts(draw):
    """Draw contexts of few symbols, whose columns repeat, and a few combinations."""
    M, K = draw(st.integers(1, 3)), draw(st.integers(3, 5))
    symbols = st.integers(0, draw(st.integers(0, K - 1)))
    features = draw(st.lists(st.lists(symbols, min_size=8, max_size=8), min_size=1, max_size=M))
    chosen = draw(st.lists(st.sampled_from(features), min_size=M, max_size=M))
    allowed = oracle.all_combinations(M)
    known = draw(st.just(allowed) | st.lists(st.sampled_from(allowed), min_size=1, max_size=9))
    return np.array(chosen, np.uint8).T[None], K, np.array(known, np.uint8)

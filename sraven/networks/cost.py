"""What a network costs, however it was made."""

from typing import NamedTuple


class Cost(NamedTuple):
    """What a network costs.

    Attributes:
        parameters: their number.
        operations: floating-point operations of the products in a forward pass, of one instance.
        memory: bytes that a training step needs: parameters, gradients, both moments of Adam, and what the
            backward pass reads of a batch.
        state: numbers that a recurrent network carries from a token to the next, its ``state_size``; None
            for one that doesn't say.
    """

    parameters: int
    operations: float
    memory: int
    state: int | None

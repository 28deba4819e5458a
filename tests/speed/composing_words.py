"""What the composing network answers to the lite text board, on levels of two and three features.

    python tests/speed/composing_words.py docs/results/composing-words.json

It can't read words, so it gets the puzzles themselves. For each level it is trained on two hundred thousand
puzzles of known combinations with the rate of `sraven reproduce --run composing`, in a plain loop, and
answers the 100 questions, whose combinations it never saw. One seed; minutes of a core. With four features a
step takes three times as long.
"""

from functools import partial

import jax
import numpy as np
import optax
from record import recorded

from baselines.encode import encoding_of
from baselines.recipes import make_config
from baselines.train.experiment import model_of
from sraven.board.board import read_board
from sraven.text.mixtures import mixture_of

LARGEST_M, INSTANCES, RATE, WARMUP = 3, 200_000, 2e-3, 100
CONFIG = make_config(read_board("sraven-camps3-v1"), "none", network="composing", learning_rate=RATE)


def trained(task, key):
    """Return what predicts panels ``[n, M]``, given contexts, after training on known combinations."""
    encoding = encoding_of(task)
    model, size = model_of(CONFIG, encoding), CONFIG.batch_size
    steps = INSTANCES // size
    schedule = optax.warmup_cosine_decay_schedule(0, RATE, WARMUP, steps, RATE / 10)
    optimiser = optax.adamw(
        schedule, weight_decay=CONFIG.weight_decay, mask=partial(jax.tree.map, lambda each: each.ndim > 1)
    )

    def outputs(params, batch):
        return model.apply({"params": params}, encoding.tokens(batch), num_outputs=encoding.num_outputs)

    @jax.jit
    def step(params, state, batch):
        loss, slope = jax.value_and_grad(lambda params: encoding.loss(outputs(params, batch), batch))(params)
        updates, state = optimiser.update(slope, state, params)
        return optax.apply_updates(params, updates), state, loss

    def draw(start):
        batch = task.sample("train", start=start, count=size)
        return {"context": batch.context.astype(np.int32), "target": batch.target.astype(np.int32)}

    params = model.init(key, encoding.tokens(draw(0)))["params"]
    state = optimiser.init(params)
    for number in range(steps):
        params, state, loss = step(params, state, draw(number * size))
        if number % 400 == 0:
            print(f"{task.M} features, {task.K} symbols: step {number}, loss {loss:.3f}", flush=True)
    return jax.jit(lambda context: encoding.predict(outputs(params, {"context": context})))


def answers():
    """Train on each level, and answer its questions."""
    found = {}
    for questions in mixture_of("sraven-text-lite-v2", "told-0-shot").sets:
        task = questions.task
        if task.M <= LARGEST_M:
            batch = questions.take(range(questions.count))
            panels = np.asarray(trained(task, jax.random.key(0))(batch.context.astype(np.int32)))
            right = (panels == batch.target).all(axis=1)
            found[f"M{task.M}-K{task.K}"] = {"n": len(right), "right": int(right.sum())}
            print(found, flush=True)
    return {"instances": INSTANCES, "seed": 0, "levels": found}


if __name__ == "__main__":
    recorded(answers)

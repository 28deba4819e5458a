"""Latent codes of trained runs (paper, sections 3.2 and 4.4), collected in one compiled program.

The latent code of a query and a key is its H attention scores after the normalisation, relative bias
included, dropout off, in each layer. Letters in array names: L layers, n rows (an instance at a query
position), C numbers of a code, B instances, A tokens with outputs, P query positions, K keys, H heads.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from baselines.analysis.labels import SELF, Part, Subject
from baselines.analysis.similarity import varying
from baselines.config import LanguageConfig, RunConfig
from baselines.encode import encoding_of
from baselines.load import load_run
from baselines.model.attention import ATTENTION, find_module, rms_head
from baselines.train.directory import read_run
from baselines.train.experiment import board_of, model_of, program_of
from baselines.train.predict import pieces_on
from baselines.train.sharding import own_mesh
from baselines.train.step import matmul_precision
from sraven.core.errors import ConfigurationError

Array = NDArray[Any]


@dataclass(frozen=True)
class Codes:
    """Latent codes of one pair of tokens, with what is true of each row.

    Attributes:
        codes: float32 ``[L, n, C]``; C is H for ``self``, 2H for ``row3``, column 1 first.
        index: int64 ``[n]``, of the instance in its split.
        position: int64 ``[n]``, of the query among the tokens that have outputs.
        labels: ``[n]`` each, by name.
        combination: int32 ``[n]``, of the instance.
        target: ``[n]``: uint8, a symbol; float32 in fuzzy logic.
        prediction: ``[n]`` of the same type, by the run.
        output: float32 ``[n, O]``, what the run says there: logits of the symbols, or the prediction.
    """

    codes: NDArray[np.float32]
    index: NDArray[np.int64]
    position: NDArray[np.int64]
    labels: Mapping[str, Array]
    combination: NDArray[np.int32]
    target: Array
    prediction: Array
    output: NDArray[np.float32]

    @property
    def layers(self) -> int:
        """How many layers there are codes of."""
        return len(self.codes)


# The networks ---------------------------------------------------------------------------------------


def load_analysed(folder: Any) -> tuple[RunConfig, Any]:
    """Return the configuration and the parameters of a finished run whose codes can be analysed.

    Raises:
        OutputError: if there is no run, or it isn't finished.
        ConfigurationError: if it is one of a language model, or of a network without latent codes.
    """
    config = read_run(folder)
    if isinstance(config, LanguageConfig):
        raise ConfigurationError(
            f"{folder} is a language model's run; latent codes are analysed on boards that know what is true "
            "of their instances, of sraven and fuzzylogic"
        )
    network = model_of(config, encoding_of(board_of(config).task))
    attention = find_module(config.attention)
    if not (getattr(network, "has_codes", False) and getattr(attention, "has_codes", True)):
        raise ConfigurationError(f"{folder} is of {config.in_words}, which has no latent codes")
    if not getattr(network, "codes_by_token", True):
        raise ConfigurationError(
            f"{folder} is of {config.in_words}, whose latent codes aren't of pairs of the sequence's tokens"
        )
    return load_run(folder)


def untrained_params(config: RunConfig, task: Any, seed: int | None = None) -> Any:
    """Return the parameters of a network of a configuration before its first step.

    Args:
        config: of the run.
        task: of its board.
        seed: that draws them; None for the run's own.
    """
    seed = config.seed if seed is None else seed
    initialise = program_of(config, encoding_of(task)).initialise_params
    return jax.jit(lambda seed: initialise(jax.random.key(seed)))(np.uint32(seed))


# Collecting -----------------------------------------------------------------------------------------


class Collector:
    """Runs a network on a task's instances; its program is compiled once for all parts and parameters.

    Args:
        config: of the run; seed and hyperparameters don't matter.
        subject: the task as it is analysed.

    Attributes:
        num_outputs: how many of a sequence's tokens have outputs, the last ones.
    """

    def __init__(self, config: RunConfig, subject: Subject) -> None:
        self.subject, self.pairs = subject, subject.pairs
        self._encoding = encoding_of(subject.task)
        self.num_outputs = self._encoding.num_outputs
        self._model = model_of(config, self._encoding)
        self._precision = config.precision
        self._at_once, self._pieces = pieces_on(own_mesh())
        # Pieces one after the other.
        self._compiled = jax.jit(lambda params, chunk: jax.lax.map(partial(self._piece, params), chunk))

    def _piece(self, params: Any, piece: dict[str, jax.Array]) -> tuple[jax.Array, jax.Array]:
        """Return outputs ``[B, P, O]`` and codes ``[L, B, P, K, H]`` of some instances."""
        last, positions = slice(-self.num_outputs, None), self.subject.positions
        with matmul_precision(self._precision):
            found: Any = self._model.apply(
                {"params": params},
                self._encoding.tokens(piece),
                num_outputs=self.num_outputs,
                return_codes=True,
            )
        out, codes = found
        keys_BPK = piece["keys"]

        def of_layer(codes_BHQT: jax.Array) -> jax.Array:
            codes_BHPT = codes_BHQT[:, :, last][:, :, positions]
            codes_BHPK = jnp.take_along_axis(codes_BHPT, keys_BPK[:, None], axis=3)
            return codes_BHPK.transpose(0, 2, 3, 1).astype(jnp.float32)

        out_BPO = out[:, last][:, positions].astype(jnp.float32)
        return out_BPO, jnp.stack([of_layer(each) for each in codes])

    def run(
        self, params: Any, batch: Any, keys_BPK: Array
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return outputs ``[B, P, O]`` and codes ``[L, B, P, K, H]`` on a batch.

        Args:
            params: of the network.
            batch: instances of the task.
            keys_BPK: integers: tokens whose codes are wanted.
        """
        fields = {name: getattr(batch, name) for name in self._encoding.fields}
        arrays = {**fields, "keys": keys_BPK.astype(np.int32)}
        count, size = len(keys_BPK), self._at_once * self._pieces
        outs, codes = [], []
        for start in range(0, count, size):
            # The last batch is filled up, so that one program serves all.
            rows = np.minimum(np.arange(start, start + size), count - 1)
            cut = {
                name: each[rows].reshape(self._pieces, self._at_once, *each.shape[1:])
                for name, each in arrays.items()
            }
            out, code = (np.asarray(each) for each in self._compiled(params, cut))
            outs.append(out.reshape(-1, *out.shape[2:]))
            code = np.moveaxis(code, 1, 0)
            codes.append(code.reshape(len(code), -1, *code.shape[3:]))
        return np.concatenate(outs)[:count], np.concatenate(codes, axis=1)[:, :count]

    def collect(self, params: Any, part: Part) -> dict[str, Codes]:
        """Return the codes of a part by pair.

        Args:
            params: of the network.
            part: which instances.
        """
        batch = self.subject.task.sample(part.split, part.start, part.count)
        truth = self.subject.truth(batch)
        keys = [truth.keys[pair] for pair in self.pairs]
        out_BPO, codes_LBPKH = self.run(params, batch, np.concatenate(keys, axis=-1))
        B, P = truth.target.shape
        rows: dict[str, Any] = {
            "index": np.repeat(np.arange(part.start, part.start + B), P),
            "position": np.tile(self.subject.positions, B),
            "labels": {name: values.reshape(-1) for name, values in truth.labels.items()},
            "combination": np.repeat(batch.combination, P),
            "target": truth.target.reshape(-1),
            "output": out_BPO.reshape(B * P, -1),
        }
        out_nO = rows["output"]  # logits of symbols, or a number
        predicted = out_nO.argmax(axis=1) if out_nO.shape[1] > 1 else out_nO[:, 0]
        rows["prediction"] = predicted.astype(rows["target"].dtype)
        found, place = {}, 0
        for pair, each in zip(self.pairs, keys, strict=True):
            codes = codes_LBPKH[:, :, :, place : place + each.shape[-1]]
            found[pair] = Codes(codes.reshape(len(codes), B * P, -1), **rows)
            place += each.shape[-1]
        return found


# Caveats ----------------------------------------------------------------------------------------------


def traps_of(config: RunConfig, pair: str, codes: Codes) -> list[str]:
    """Return the caveats for reading anything computed from codes, a line each."""
    found = []
    for layer, codes_nC in enumerate(codes.codes):
        if not varying(codes_nC).any():
            spread = codes_nC.astype(np.float64).std(axis=0).max()
            why = ", as the query token is the same in every instance" if layer == 0 and pair == SELF else ""
            found.append(f"{pair}, layer {layer + 1}: codes are constant (spread {spread:.1g}){why}")
    attention = ATTENTION.get(config.attention)
    if config.heads == 1 and attention is not None and attention.normalise is rms_head:
        found.append(f"{pair}: with one head, RMSHead makes every code +1 or -1")
    return found

"""Writes a tiny GPT-2 with random weights, whose tokens are bytes, and runs lm-eval's command.

Without the thousands of tasks that lm-eval brings: it would read all of their files.
"""

import sys
from functools import partialmethod

import torch
from lm_eval import evaluator
from lm_eval.__main__ import cli_evaluate
from lm_eval.tasks import TaskManager
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

END = "<end>"


def make_tokenizer():
    """Return a tokenizer whose words are the bytes, and one for the end."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytewise = Tokenizer(models.BPE(vocab={word: i for i, word in enumerate([*letters, END])}, merges=[]))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytewise.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=bytewise, eos_token=END, pad_token=END)


def make_model(folder):
    """Write model and tokenizer to a folder."""
    tokenizer = make_tokenizer()
    end = tokenizer.eos_token_id
    torch.manual_seed(0)
    sizes = {"n_positions": 4096, "n_embd": 8, "n_layer": 1, "n_head": 1}
    config = GPT2Config(vocab_size=len(tokenizer), bos_token_id=end, eos_token_id=end, **sizes)
    model = GPT2LMHeadModel(config)
    model.generation_config.min_new_tokens = 16  # so that the end doesn't come by chance
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    make_model(sys.argv.pop(1))
    TaskManager.__init__ = partialmethod(TaskManager.__init__, include_defaults=False)
    evaluator.add_env_info = lambda results: None  # runs a dozen programs about the machine
    sys.exit(cli_evaluate())

"""Writes a tiny GPT-2 with random weights, and a tokenizer that takes each byte for a token."""

import sys

import torch
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


def main(folder):
    """Write both to a folder."""
    tokenizer = make_tokenizer()
    end = tokenizer.eos_token_id
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=4096,
        n_embd=8,
        n_layer=1,
        n_head=1,
        bos_token_id=end,
        eos_token_id=end,
    )
    model = GPT2LMHeadModel(config)
    model.generation_config.min_new_tokens = 16  # so that the end doesn't come by chance
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    main(sys.argv[1])

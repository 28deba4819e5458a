"""Numbers and long texts as the page writes them."""

import pytest

from sraven.core.page.words import compact, score_and_error, shortened


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.7, 0.01, ("0.7000", "0.0100")),
        (0.0002, 0.00003, ("0.00020", "0.00003")),  # ± 0.0000 would claim too much
        (0.5, 0.0, ("0.5000", "0.0000")),
        (0.5, 1e-15, ("0.5000", "0.0000")),
        (-40.0, None, ("−40.0000", "")),
        (None, None, ("–", "")),
        (1e300, 1e300, ("1e+300", "1e+300")),
        (6e-8, None, ("6.0 × 10⁻⁸", "")),  # 0.0000 would say nothing
        (-0.00004, None, ("−4.0 × 10⁻⁵", "")),
        (-0.0, None, ("0", "")),
    ],
)
def test_scores_have_as_many_digits_as_their_error(value, error, text):
    assert score_and_error(value, error) == text


def test_counts_and_texts_in_short():
    assert [compact(n).replace("\u00a0", " ") for n in (0, 65_536, 20_000_000, 6_400_000, 130 * 10**9)] == [
        "0",
        "65,536",
        "20 M",
        "6.4 M",
        "130 B",
    ]
    assert [shortened(text, 4) for text in ("abcd", "abcdef", "ab def")] == ["abcd", "abc…", "ab…"]

"""Names that can be seen, addresses that lead where they say, and what looks like something else."""

import pytest

from sraven.core.base.names import host, mixed_scripts, name_fault, name_notes, skeleton, text_fault

CYRILLIC_A, CYRILLIC_U, GREEK_MU = "\u0430", "\u0443", "\u03bc"


@pytest.mark.parametrize(
    "name",
    ["HYLA (ours)", "Müller", "e\u0301", "注意", "β-VAE", f"{GREEK_MU}P", "ड़ें", "한글", "?", " x ", "✓ 1e-3"],
)
def test_names_of_any_language_are_names(name):
    assert name_fault(name) is None


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "is blank"),
        ("  ", "is blank"),
        ("a\nb", "has U+000A, which can't be seen"),
        ("a\x1b[2J", "has U+001B, which can't be seen"),
        ("a\u202eb", "has U+202E (RIGHT-TO-LEFT OVERRIDE), which can't be seen"),
        ("a\u200b", "has U+200B (ZERO WIDTH SPACE), which can't be seen"),
        ("a\u00a0b", "has U+00A0 (NO-BREAK SPACE), which can't be seen"),
        ("\u2800", "has U+2800 (BRAILLE PATTERN BLANK), which can't be seen"),
        ("\u3164", "has U+3164 (HANGUL FILLER), which can't be seen"),
        ("a\ufe0f", "has U+FE0F (VARIATION SELECTOR-16), which can't be seen"),
        ("a\ud800", "has U+D800, which can't be seen"),
        ("\u0301a", "begins with a combining mark, which would sit on what stands before it"),
        ("a" + "\u0301" * 4, "has more than 3 combining marks in a row"),
    ],
)
def test_what_is_no_name(name, fault):
    assert name_fault(name) == fault


def test_text_has_lines_and_a_name_has_one():
    assert text_fault("a\n\tb") is None and text_fault("a\rb") is not None
    assert name_fault("a\tb") == "has U+0009, which can't be seen"


@pytest.mark.parametrize(
    ("address", "leads_to"),
    [
        ("https://example.org", "example.org"),
        ("http://GitHub.com/a/b?c=d#e", "github.com"),
        ("https://medium.com/@someone/x", "medium.com"),
        ("https://xn--e1afmkfd.xn--p1ai/", "xn--e1afmkfd.xn--p1ai"),
        ("https://a.b-c.org/%C3%A9", "a.b-c.org"),
        ("https://evil.example#@github.com", "evil.example"),
        ("https://github.com@evil.example", None),
        ("https://github.com:x@evil.example/", None),
        ("https://github.com:443/", None),
        ("https://github.com:@evil.example/", None),
        ("https://github.com\\@evil.example", None),
        ("https://github.com%2f@evil.example", None),
        ("https://github%2ecom", None),
        ("https://g\u0456thub.com", None),
        ("https://github\u3002com", None),
        ("https://github.com/\u202e", None),
        ("https://example.org/a b", None),
        ("https://example.org/\n", None),
        ("https://example.org/'x", None),
        ("https://example.org.", None),
        ("https://-a.org", None),
        ("https://a..org", None),
        ("https://" + "a." * 200 + "org", None),
        ("https://127.0.0.1/", None),
        ("https://2130706433/", None),
        ("https://0x7f.0x1/", None),
        ("https://[::1]/", None),
        ("https://localhost/", None),
        ("https:///x", None),
        ("https://", None),
        ("//example.org", None),
        ("HTTPS://example.org", None),
        ("ftp://example.org", None),
        ("javascript:https://example.org", None),
        ("", None),
        (None, None),
    ],
)
def test_address_leads_to_the_host_that_it_shows(address, leads_to):
    assert host(address) == leads_to


@pytest.mark.parametrize(
    ("name", "scripts"),
    [
        (f"h{CYRILLIC_U}la", ("Cyrillic", "Latin")),
        (f"softm{CYRILLIC_A}x 2", ("Cyrillic", "Latin")),
        (f"{GREEK_MU}P", ("Greek", "Latin")),
        (f"a {CYRILLIC_A}", ()),
        (f"{GREEK_MU}-P", ()),
        ("\uff48yla", ()),
        ("注意 hyla", ()),
    ],
)
def test_scripts_of_a_word(name, scripts):
    assert mixed_scripts(name) == scripts


def test_names_that_look_alike_have_one_skeleton_and_others_have_others():
    alike = [f"h{CYRILLIC_U}la", "HYLA", "\uff48yla", "hy la", "hylá", "hyl\u0430", "hyIa", "hy1a", "hy|a"]
    assert set(map(skeleton, alike)) == {skeleton("hyla")}
    assert skeleton("hyla") not in map(skeleton, ("hyla 2", "hylas", "softmax", "hyla-2"))


def test_later_of_two_that_look_alike_has_a_note():
    names = ["hyla", "softmax", f"h{CYRILLIC_U}la", "hyla", "Softmax", "other"]
    alike = "its name looks like that of another entry"
    mixed = f"its name mixes Cyrillic and Latin letters in a word; {alike}"
    assert name_notes(names) == ["", "", mixed, "its name is that of another entry", alike, ""]

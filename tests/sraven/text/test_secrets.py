"""Keys and passwords are kept out of texts; addresses are read before anything is sent."""

import base64
import html
import json
from urllib.parse import quote

import pytest

from helpers.refusals import assert_refused
from sraven.text.addresses import read_address, url_secrets
from sraven.text.masking import make_mask, read_key

KEY = 'sk-a/b<c>&\\d"e=='


SPELLINGS = [str, json.dumps, html.escape, lambda key: quote(key, safe="")]


@pytest.mark.parametrize("spell", [*SPELLINGS, lambda key: json.dumps(key).replace("/", "\\/")])
def test_a_key_is_hidden_in_any_spelling(spell):
    shown = make_mask([KEY])(f"Bearer {spell(KEY)} isn't known")
    assert shown.replace('"', "") == "Bearer [secret] isn't known"


def test_what_is_short_hides_nothing_and_longer_secrets_go_first():
    assert make_mask(["1", "none", ""])("Answer: [1 2], none") == "Answer: [1 2], none"
    assert make_mask(["secret", "secret-key"])("secret-key") == "[secret]"
    assert make_mask([])("as it is") == "as it is"


@pytest.mark.parametrize(
    "key", ["sk 123", "sk-\u201c123\u201d", "sk-1\n23", "sk-\udcff", "sk-\u00e4", "sk\x7f12"]
)
def test_what_is_no_value_of_a_header_is_refused_by_the_name_of_its_variable(monkeypatch, key):
    monkeypatch.setenv("KEY", key)
    with pytest.raises(ValueError, match="the key in KEY can't be sent") as refusal:
        read_key("KEY")
    assert "sk" not in str(refusal.value)


@pytest.mark.parametrize("name", ["sk-proj-1234567", "hf_abcdef", "", "a=b", "KEY\0", "AB" * 40])
def test_a_key_in_place_of_the_name_is_not_repeated(name):
    assert_refused("no variable as --key-env names it; it takes the name", read_key, name)
    assert_refused("has no SOME_KEY; set it", read_key, "SOME_KEY")


@pytest.mark.parametrize(
    "url", ["http://h/v1", "http://h/v1/", "http://h/v1/chat/completions", "HTTP://h/v1#x"]
)
def test_addresses_may_end_in_what_is_appended(url):
    assert read_address(url)[:2] == ("http://h/v1/chat/completions", "http://h/v1")


def test_what_an_address_keeps_to_itself_is_not_shown():
    found = read_address("https://me:pass%2Fword@h:8443/openai/d/m?api-version=2024-06-01&key=qwertz")
    assert found.url.endswith("h:8443/openai/d/m/chat/completions?api-version=2024-06-01&key=qwertz")
    assert found.shown == "https://h:8443/openai/d/m" and found.is_azure
    basic = base64.b64encode(b"me:pass/word").decode()
    assert {*found.secrets} == {"pass%2Fword", "pass/word", "qwertz", basic}
    assert read_address("http://[::1]:80/v1").shown == "http://[::1]:80/v1"
    assert url_secrets("http://token-only@h") == ("token-only", "token-only", "dG9rZW4tb25seTo=")
    assert url_secrets("http://[") == ()


ODD = [
    *("", "localhost:8000", "ftp://h/v1", "http://", "http:///v1", "https://:80", "//h/v1", " http://h"),
    *("http://h:99999", "http://h:0", "http://h:-1", "http://h:port", "http://h:80:80", "http://[::1"),
    *("http://ex ample", "http://h\n", "http://h/\x00", "http://h/\ud800", "http://\u201ch\u201d"),
    *("http://*", "http://a..b", "http://" + "a" * 70, "http://%zz", "http://h\\x", "http://h\u202e/v1"),
    *("http://..", "http://[z]"),
    *("http://u:secret-pw@h:port", "me:secret-pw@h/v1", "http://u:secret-pw/x@h:1:2"),
]


@pytest.mark.parametrize("url", ODD)
def test_odd_addresses_are_refused_in_a_line_that_shows_no_password(url):
    with pytest.raises(ValueError, match="is no address; expected one such as") as refusal:
        read_address(url)
    assert str(refusal.value).isprintable() and "secret-pw" not in str(refusal.value)

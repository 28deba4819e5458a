"""The palette is read as it is, and a picture drawn in its light colours turns dark with its reader."""

import pytest

from sraven.core.page.palette import follow_scheme, palette, variables

DRAWN = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><text style="font: 1px a; fill: {}"/></svg>'
)


def test_colours_are_those_of_the_style_sheet():
    assert palette()["surface"] == ("#ffffff", "#161b1f")
    assert {"text", "muted", "line", "accent", "caution", "softmax", "linear", "hyla"} <= palette().keys()


def test_a_picture_knows_its_colours_on_a_dark_ground():
    light, dark = palette()["text"]
    svg = follow_scheme(DRAWN.format(light))
    assert f'[style*="fill: {light}"]{{fill:{dark} !important}}' in svg
    assert svg.replace(svg[svg.index("<style>") : svg.index("</style>") + 8], "") == DRAWN.format(light)


def test_variables_are_light_unless_the_reader_wants_dark():
    light, dark = palette()["hyla"]
    assert variables(["hyla"]) == (
        f"svg{{--hyla:{light};}}@media(prefers-color-scheme:dark){{svg{{--hyla:{dark};}}}}"
    )
    with pytest.raises(KeyError):
        variables(["puce"])

"""The leaderboard's page as a browser shows it."""

OPEN = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"

RATIOS = """
// The contrast of every text with what lies behind it: WCAG 2.1, relative luminance.
const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
const parse = (color) => {  // however it is written
  pen.clearRect(0, 0, 1, 1);
  pen.fillStyle = color;
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data;
  return [red, green, blue, alpha / 255];
};
const luminance = (color) => {
  const [r, g, b] = parse(color).slice(0, 3).map((part) => {
    const share = part / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (element) => {
  for (let each = element; each; each = each.parentElement) {
    const color = getComputedStyle(each).backgroundColor;
    const [, , , alpha] = parse(color);
    if (alpha === 1) { return color; }
    if (alpha !== 0) { throw new Error('half transparent: ' + color); }
  }
  return 'rgb(255, 255, 255)';
};
const ratios = [];
for (const element of document.body.querySelectorAll('*')) {
  const told = Array.from(element.childNodes).some((node) => node.nodeType === 3 && node.data.trim());
  if (told && element.checkVisibility({ visibilityProperty: true }) && element.tagName !== 'title') {
    const style = getComputedStyle(element);
    const color = element instanceof SVGElement ? style.fill : style.color;
    const [one, other] = [luminance(color), luminance(behind(element))].sort((a, b) => b - a);
    ratios.push([(one + 0.05) / (other + 0.05), element.outerHTML.slice(0, 100)]);
  }
}
return ratios;
"""


def look(driver, width, scheme="light"):
    """Look at the page, and at those that are opened later, at a width and in a colour scheme."""
    # Without motion, a click finds its goal where it was.
    media = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
    features = [{"name": name, "value": value} for name, value in media.items()]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

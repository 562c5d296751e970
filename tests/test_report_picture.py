"""The pictures of the report in docs/images look as the report does."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from shutil import which

import pytest

pytestmark = pytest.mark.slow

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
if which("chromium") is None and which("chromium-browser") is None:
    pytest.skip("needs Chromium: apt-get install chromium", allow_module_level=True)

from tests import report_picture  # noqa: E402  imports playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
COMMAND = "uv run --group test python -m tests.report_picture docs/images"

# Both pictures in 58 x 38 cells: fonts and addresses may differ, boxes and colours may not.
MEAN_DIFFERENCE = """async (addresses) => {
  const read = async (address) => {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = new OffscreenCanvas(58, 38);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0, 58, 38);
    return context.getImageData(0, 0, 58, 38).data;
  };
  const [first, second] = [await read(addresses[0]), await read(addresses[1])];
  return first.reduce((sum, value, at) => sum + Math.abs(value - second[at]), 0) / first.length;
}"""


def test_pictures_are_those_of_the_report_of_today(tmp_path: Path) -> None:
    report_picture.take(tmp_path)
    addresses = {
        (folder, name): _address(folder / name)
        for folder in (IMAGES, tmp_path)
        for name in ("report.png", "pair.png")
    }
    with playwright.sync_playwright() as driver:
        page = report_picture.browser(driver).new_page()
        for name in ("report.png", "pair.png"):
            pair = [addresses[IMAGES, name], addresses[tmp_path, name]]
            assert page.evaluate(MEAN_DIFFERENCE, pair) < 4, f"{name}: take it anew: {COMMAND}"
        different = [addresses[IMAGES, "report.png"], addresses[IMAGES, "pair.png"]]
        assert page.evaluate(MEAN_DIFFERENCE, different) > 8  # what the measure tells apart


def _address(path: Path) -> str:
    return "data:image/png;base64," + b64encode(path.read_bytes()).decode()

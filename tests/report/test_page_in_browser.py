"""The page in a real Chromium: silent, offline, readable, usable without scripts, on a phone, in the dark and in print."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.common.exceptions import NoAlertPresentException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

from evenhand.report.render import to_html
from evenhand.results import Audit

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no chromium and chromedriver on this machine")

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
CONTRAST = """
const shade = (text) => { const [r, g, b, a] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a ?? 1]; };
const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
  .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
const ground = (at) => { for (; at; at = at.parentElement) {
  const c = shade(getComputedStyle(at).backgroundColor); if (c[3] === 1) return c; } return [255, 255, 255, 1]; };
const low = [];
for (const details of document.querySelectorAll("details")) details.open = true;
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const parent = walk.currentNode.parentElement;
  if (!walk.currentNode.textContent.trim() || parent.closest("script, style, title, desc, [hidden]")) continue;
  const style = getComputedStyle(parent);
  const ink = shade(parent.closest("svg") ? style.fill : style.color);
  const [a, b] = [light(ink), light(ground(parent))].sort((x, y) => y - x);
  if ((a + 0.05) / (b + 0.05) < 4.5) low.push([parent.tagName, parent.className.baseVal ?? parent.className, (a + .05) / (b + .05)]);
}
return low;
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = Options()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    found = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    yield found
    found.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, demo: Audit, rep_01: Audit, several: Audit) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for name, audit in (("demo", demo), ("rep_01", rep_01), ("several", several)):
        path = Path(folder / f"{name}.html")
        path.write_text(to_html(audit), encoding="utf-8")
        found[name] = path.as_uri()
    return found


def seen(driver: webdriver.Chrome, address: str, *, dark: bool = False, width: int = 1280, media: str = "") -> None:
    """Open a page as a reader with these settings sees it."""
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [scheme]})
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    for kind in ("browser", "performance"):
        driver.get_log(kind)
    driver.get(address)


def requests(driver: webdriver.Chrome) -> list[str]:
    """Addresses asked for since the page was opened."""
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


@pytest.mark.parametrize("name", ["demo", "rep_01", "several"])
def test_page_is_silent_and_offline(driver: webdriver.Chrome, pages: dict[str, str], name: str) -> None:
    seen(driver, pages[name])
    with pytest.raises(NoAlertPresentException):
        driver.switch_to.alert.accept()
    assert driver.get_log("browser") == []
    assert requests(driver) == [pages[name]]
    assert driver.execute_script("return document.images.length") == 0


def test_headline_numbers_are_visible_at_once(driver: webdriver.Chrome, pages: dict[str, str]) -> None:
    seen(driver, pages["demo"])
    said = driver.find_element(By.ID, "said").text.replace("\N{NO-BREAK SPACE}", " ")
    assert "10.4 %" in said
    assert "92.8 %" in said
    assert driver.execute_script("return document.getElementById('said').getBoundingClientRect().bottom") < 900


def test_a_card_opens(driver: webdriver.Chrome, pages: dict[str, str]) -> None:
    seen(driver, pages["demo"])
    card = driver.find_element(By.CSS_SELECTOR, "#numbers details.card")
    words = card.find_element(By.CSS_SELECTOR, "dd")
    assert not words.is_displayed()
    card.find_element(By.TAG_NAME, "summary").click()
    assert words.is_displayed()
    assert "share of the verdicts" in words.text
    edge = "return arguments[0].getBoundingClientRect().right"
    section = driver.find_element(By.ID, "numbers")
    assert driver.execute_script(edge, words) <= driver.execute_script(edge, section) + 1


def test_an_address_of_a_number_opens_its_card(driver: webdriver.Chrome, pages: dict[str, str]) -> None:
    seen(driver, f"{pages['demo']}#gwet_ac1/judge")
    assert driver.find_element(By.ID, "gwet_ac1/judge").is_displayed()


def test_page_works_without_scripts(driver: webdriver.Chrome, pages: dict[str, str]) -> None:
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        seen(driver, pages["rep_01"])
        assert not driver.find_element(By.ID, "every-card").is_displayed()
        assert not driver.find_element(By.CSS_SELECTOR, "input[type=search]").is_displayed()
        card = driver.find_element(By.CSS_SELECTOR, "#numbers details.card")
        card.find_element(By.TAG_NAME, "summary").click()
        assert card.find_element(By.CSS_SELECTOR, "dd").is_displayed()
        driver.find_element(By.CSS_SELECTOR, "input[value=reject]").click()
        shown = [article for article in driver.find_elements(By.CSS_SELECTOR, "article") if article.is_displayed()]
        assert [article.find_element(By.TAG_NAME, "b").text for article in shown] == ["false reject"] * len(shown)
        assert 0 < len(shown) < 4
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_texts_filter_and_cards_open_together(driver: webdriver.Chrome, pages: dict[str, str]) -> None:
    seen(driver, pages["rep_01"])
    driver.find_element(By.CSS_SELECTOR, "input[type=search]").send_keys("EMOJI")
    shown = [article for article in driver.find_elements(By.CSS_SELECTOR, "article") if article.is_displayed()]
    assert len(shown) == 1
    driver.find_element(By.ID, "every-card").click()
    assert driver.execute_script("return document.querySelectorAll('details.card:not([open])').length") == 0


@pytest.mark.parametrize("name", ["demo", "rep_01", "several"])
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_body_never_scrolls_sideways(driver: webdriver.Chrome, pages: dict[str, str], name: str, width: int) -> None:
    seen(driver, pages[name], width=width)
    driver.execute_script("for (const at of document.querySelectorAll('details')) at.open = true")
    across: list[Any] = driver.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert across[0] <= across[1]


@pytest.mark.parametrize("name", ["demo", "rep_01"])
@pytest.mark.parametrize("dark", [False, True])
def test_text_has_contrast(driver: webdriver.Chrome, pages: dict[str, str], name: str, dark: bool) -> None:
    seen(driver, pages[name], dark=dark)
    ground = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (int(ground.split("(")[1].split(",")[0]) < 100) == dark
    assert driver.execute_script(CONTRAST) == []


def test_print_is_black_on_white_without_tools(driver: webdriver.Chrome, pages: dict[str, str]) -> None:
    seen(driver, pages["demo"], dark=True, width=700, media="print")
    assert driver.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not driver.find_element(By.TAG_NAME, "nav").is_displayed()
    assert driver.find_element(By.CSS_SELECTOR, "svg").is_displayed()
    assert driver.execute_script(CONTRAST) == []
    printed = driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    assert len(printed["data"]) > 20_000


def test_drawings_show_judge_and_reference_apart_without_colour(
    driver: webdriver.Chrome, pages: dict[str, str]
) -> None:
    seen(driver, pages["demo"])
    fills = driver.execute_script(
        "return ['judge', 'reference'].map(c => getComputedStyle(document.querySelector(`svg rect.${c}`)).fill)"
    )
    paper = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert fills[1] == paper != fills[0]

"""What somebody takes along of a page: all tables in one archive, the chart, and paper."""

import datetime
import io
import re
import subprocess
import zipfile
from pathlib import Path
from shutil import which

import pytest
from playwright.sync_api import Page, expect

from support.api import Account
from support.sample_data import sale_of
from support.tab import Tab, Tabs

PNG = b"\x89PNG"
KINDS = ["referers", "sources", "campaigns", "countries", "devices", "browsers", "operating_systems"]
# What of a page can be seen, line by line.
VISIBLE = "document.querySelector('main').innerText"
# What no paper can do.
NOT_ON_PAPER = [".rail", ".bottom", ".view-bar", "main button:not(.bar-row, .click-opener, .about-mark *)", ".plot", "summary"]


def saved(tab: Tab, item: str) -> tuple[str, bytes]:
    with tab.page.expect_download() as download:
        tab.pick(tab.button("Download"), item)
    assert download.value.failure() is None
    return download.value.suggested_filename, download.value.path().read_bytes()


def opened(archive: bytes) -> dict[str, str]:
    """The files of an archive."""
    now = datetime.datetime.now()
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        assert files.testzip() is None
        for entry in files.infolist():
            made = datetime.datetime(*entry.date_time)
            # The time of the browser's clock, which may be of another zone.
            assert abs(made - now) < datetime.timedelta(hours=15), entry
        return {name: files.read(name).decode() for name in files.namelist()}


def about(files: dict[str, str]) -> dict[str, str]:
    return dict(line.split(",", 1) for line in files["about.csv"].splitlines())


def test_all_tables_of_a_link_come_in_one_archive(tabs: Tabs, filled: Account) -> None:
    sale = sale_of(filled)
    tab = tabs.open(filled, f"links/{sale}?country=NO", clicks=4)
    name, archive = saved(tab, "All tables")
    files = opened(archive)
    assert name == f"{sale}.zip"
    assert list(files) == ["about.csv", f"{sale}-series.csv", *(f"{sale}-{kind}.csv" for kind in KINDS), f"{sale}-week.csv"]
    facts = about(files)
    assert (facts["short_url"].rsplit("/", 1)[-1], facts["time_zone"], facts["audience"], facts["country"]) == (sale, "Europe/Zurich", "human", "NO")
    head, *days = files[f"{sale}-series.csv"].splitlines()
    assert head == "period,clicks,human_clicks,note"
    assert [row.rsplit(",", 1)[-1] for row in days].count("so far") == 1
    head, *hours = files[f"{sale}-week.csv"].splitlines()
    assert (head, len(hours), sum(int(row.split(",")[2]) for row in hours)) == ("weekday,hour,clicks", 7 * 24, 4)
    # One by one, they are the same.
    assert saved(tab, "Countries") == (f"{sale}-countries.csv", files[f"{sale}-countries.csv"].encode())


@pytest.mark.parametrize("program", ["unzip -t", "7z t", "bsdtar -tf", "jar tf"])
def test_other_programs_open_an_archive(tabs: Tabs, filled: Account, program: str, tmp_path: Path) -> None:
    command = program.split()
    if not which(command[0]):
        pytest.skip(f"there is no {command[0]}")
    tab = tabs.open(filled, f"links/{sale_of(filled)}")
    file = tmp_path / "tables.zip"
    file.write_bytes(saved(tab, "All tables")[1])
    said = subprocess.run([*command, file], capture_output=True, text=True, check=True).stdout
    assert "about.csv" in said or "Everything is Ok" in said


def test_all_tables_of_the_overview_come_in_one_archive(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, "overview?range=7d")
    name, archive = saved(tab, "All tables")
    files = opened(archive)
    assert name == "overview.zip"
    assert list(files) == ["about.csv", "overview-series.csv", "overview-top_links.csv", *(f"overview-{kind}.csv" for kind in KINDS)]
    assert (about(files)["tag"], about(files)["time_zone"]) == ("all links", "UTC")
    assert len(files["overview-series.csv"].splitlines()) == 8
    assert files["overview-series.csv"].splitlines()[-1].endswith(",so far")
    assert sale_of(filled) in files["overview-top_links.csv"]


def test_a_table_that_cannot_be_read_leaves_no_archive(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, f"links/{sale_of(filled)}")
    tab.fails("**/api/stats/*?*table=browsers*", 503, "service_unavailable")
    tab.pick(tab.button("Download"), "All tables", says=re.compile("Couldn’t save the file."))


def test_a_chart_is_copied_and_saved_where_the_clipboard_refuses(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, f"links/{sale_of(filled)}")
    tab.pick(tab.button("Download"), "Copy chart image", says="Image copied.")
    copied = tab.page.evaluate(
        "async () => { const [item] = await navigator.clipboard.read(); const blob = await item.getType('image/png'); const { width, height } = await createImageBitmap(blob); return [width, height]; }"
    )
    assert copied[0] > copied[1] > 400

    tab.page.evaluate("() => { navigator.clipboard.write = () => Promise.reject(new DOMException('no', 'NotAllowedError')); }")
    name, picture = saved(tab, "Copy chart image")
    assert name == f"{sale_of(filled)}-clicks.png" and picture.startswith(PNG)
    tab.says("so the image was downloaded")


def pages_of(page: Page, paper: str) -> int:
    return len(re.findall(rb"/Type /Page\b", page.pdf(format=paper)))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_link_is_printed_on_two_light_pages(tabs: Tabs, filled: Account, scheme: str) -> None:
    sale = sale_of(filled)
    tab = tabs.open(filled, f"links/{sale}")
    tab.page.emulate_media(color_scheme=scheme)
    tab.settled()
    bars, rows = (tab.page.locator(each) for each in (".bars li", ".clicks tbody tr"))
    shown = (bars.count(), rows.count())
    assert shown[0] > 10 and shown[1] > 5
    assert [pages_of(tab.page, paper) for paper in ("A4", "Letter")] == [2, 2]

    tab.page.emulate_media(media="print", color_scheme=scheme)
    for selector in NOT_ON_PAPER:
        expect(tab.page.locator(selector).filter(visible=True)).to_have_count(0)
    assert (bars.filter(visible=True).count(), rows.filter(visible=True).count()) == shown
    text = tab.page.evaluate(VISIBLE)
    year = str(datetime.date.today().year)
    for words in ["Spring sale", sale, "Human clicks", "Printed", year, "news.example", "Firefox", "Latest clicks", "Days and hours"]:
        assert words in text, words
    assert tab.page.locator(".printed path").count() > 3
    colours = tab.page.evaluate("['backgroundColor', 'color'].map((name) => getComputedStyle(name === 'color' ? document.body : document.documentElement)[name])")
    assert colours == ["rgb(255, 255, 255)", "rgb(28, 29, 31)"]
    # As wide as the page.
    chart, page = (tab.page.locator(each).first.bounding_box() for each in ("svg.printed", ".page"))
    assert chart and page and chart["width"] > 0.9 * page["width"]
    tab.page.emulate_media(media="screen")
    expect(tab.page.locator(".printed, .printed-note").filter(visible=True)).to_have_count(0)


@pytest.mark.parametrize("view", ["overview", "tags/sale"])
def test_an_overview_is_printed_with_what_nobody_has_come_to(tabs: Tabs, filled: Account, view: str) -> None:
    tab = tabs.open(filled, view)
    tab.page.evaluate("() => { window.print = () => { window.printed = document.querySelector('main').innerText; }; }")
    tab.pick(tab.button("Download"), "Print")
    tab.until("() => window.printed")
    assert "Countries" in tab.page.evaluate("window.printed")
    tab.page.emulate_media(media="print")
    text = tab.page.evaluate(VISIBLE)
    for words in ["Clicks over time", "Top links", "Visitors", "Norway", "UTC · Printed"]:
        assert words in text, words
    assert pages_of(tab.page, "A4") <= 2

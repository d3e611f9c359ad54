"""What somebody takes along of a page: all tables in one archive, and the chart."""

import datetime
import io
import re
import subprocess
import zipfile
from pathlib import Path
from shutil import which

import pytest

from support.api import Account
from support.sample_data import sale_of
from support.tab import Tab, Tabs

PNG = b"\x89PNG"
KINDS = ["referers", "sources", "campaigns", "countries", "devices", "browsers", "operating_systems"]


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

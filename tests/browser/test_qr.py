"""QR codes: what is offered can be read, with a logo in the middle and rounded, of one link and of many."""

import io
import re
import zipfile
from typing import Any

import zxingcpp
from PIL import Image, ImageDraw
from playwright.sync_api import Locator, expect

from support.api import Account
from support.sample_data import sale_of
from support.tab import Tab, Tabs

SIZES = ["256", "512", "1024", "2048"]
LEVEL_WITH_LOGO = "H"
AT_ONCE = 4


def picture(size: tuple[int, int] = (200, 200), form: str = "PNG") -> bytes:
    """A logo that is dark all over, which is the worst for a reader."""
    image = Image.new("RGB", size, "#2f5bd7")
    ImageDraw.Draw(image).line((0, 0, *size), fill="#000000", width=30)
    kept = io.BytesIO()
    image.save(kept, form)
    return kept.getvalue()


def logo_answers(account: Account) -> dict[str, Any]:
    """As if the workspace had a logo, whose address has the domain of short URLs."""
    url = f"{account.api.url}/api/logos/abc"
    workspace = account.call("GET", "/api/workspace") | {"logo_url": "https://go.example.com/api/logos/abc"}
    return {"**/api/workspace": workspace, url: lambda route: route.fulfill(body=picture(), content_type="image/png")}


def dialog_of(tab: Tab) -> Locator:
    tab.press(tab.button("QR code").first)
    dialog = tab.dialog("QR code")
    expect(dialog.get_by_role("img")).to_be_visible()
    return dialog


def saved(tab: Tab, button: Locator) -> tuple[str, bytes]:
    with tab.page.expect_download() as download:
        tab.press(button)
    assert download.value.failure() is None
    return download.value.suggested_filename, download.value.path().read_bytes()


def reading(image: Image.Image) -> tuple[str, str]:
    """What a reader finds, and the level of error correction."""
    [found] = zxingcpp.read_barcodes(image.convert("RGB"))
    return found.text, found.ec_level


def drawn_by_browser(tab: Tab, svg: str) -> Image.Image:
    """The picture of a document."""
    page = tab.context.new_page()
    page.set_content(f'<body style="margin:0">{svg}')
    image = Image.open(io.BytesIO(page.locator("svg").screenshot()))
    page.close()
    return image


def says(account: Account, code: str) -> str:
    link = next(link for link in account.links if link["short_code"] == code)
    return f"{link['short_url']}?qr=1"


def test_every_size_with_a_logo_can_be_read(tabs: Tabs, filled: Account) -> None:
    sale = sale_of(filled)
    tab = tabs.open(filled, f"links/{sale}", answers=logo_answers(filled))
    dialog = dialog_of(tab)
    tab.press(tab.button("Workspace logo", dialog))
    expect(dialog.get_by_text("The code has more squares")).to_be_visible()
    expect(dialog.get_by_role("img")).to_be_visible()
    for rounded in (False, True):
        dialog.get_by_label("Rounded").set_checked(rounded)
        for margin in ("4", "0", "10"):
            dialog.get_by_label("Margin").select_option(margin)
            for size in SIZES:
                tab.press(tab.button(size, dialog))
                name, png = saved(tab, tab.button("PNG", dialog))
                image = Image.open(io.BytesIO(png))
                assert (name, image.size) == (f"{sale}.png", (int(size), int(size)))
                # What is around a code without a margin is light.
                paper = Image.new("RGB", (int(size) + 80, int(size) + 80), "white")
                paper.paste(image, (40, 40))
                assert reading(paper) == (says(filled, sale), LEVEL_WITH_LOGO), f"{rounded}, {margin}, {size}"
                middle = image.convert("RGB").getpixel((int(size) // 2 + int(size) // 40, int(size) // 2 - int(size) // 40))
                assert middle == (0x2F, 0x5B, 0xD7), "the logo is in the middle"
        name, svg = saved(tab, tab.button("SVG", dialog))
        assert name == f"{sale}.svg"
        assert reading(drawn_by_browser(tab, svg.decode()))[0] == says(filled, sale)


def test_without_a_logo_of_the_workspace_a_file_is_chosen(tabs: Tabs, filled: Account) -> None:
    sale = sale_of(filled)
    tab = tabs.open(filled, f"links/{sale}")
    dialog = dialog_of(tab)
    expect(tab.button("Workspace logo", dialog)).to_have_count(0)

    def choose(name: str, kind: str, content: bytes) -> None:
        with tab.page.expect_file_chooser() as chooser:
            tab.press(tab.button("Choose a file", dialog))
        chooser.value.set_files({"name": name, "mimeType": kind, "buffer": content})

    choose("logo.png", "image/png", b"no picture")
    expect(dialog.get_by_role("alert")).to_have_text("Choose a PNG, JPEG or WebP image.")
    expect(tab.button("None", dialog)).to_have_attribute("aria-pressed", "true")
    choose("logo.jpg", "image/jpeg", picture((900, 300), "JPEG"))
    expect(tab.button("Choose a file", dialog)).to_have_attribute("aria-pressed", "true")
    expect(dialog.get_by_text("Choose a PNG")).to_have_count(0)
    expect(dialog.get_by_role("img")).to_be_visible()
    assert reading(Image.open(io.BytesIO(saved(tab, tab.button("PNG", dialog))[1]))) == (says(filled, sale), LEVEL_WITH_LOGO)
    # It is three times as wide as high, and what it doesn't need is background.
    svg = saved(tab, tab.button("SVG", dialog))[1].decode()
    [place] = re.findall(r'<image href="data:image/png;base64,[^"]+" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', svg)
    assert abs(float(place[2]) - 3 * float(place[3])) < 0.1
    tab.press(tab.button("None", dialog), lacks=dialog.get_by_text("The code has more squares"))
    assert "<image" not in saved(tab, tab.button("SVG", dialog))[1].decode()


def test_colours_transparency_and_margin_are_drawn_and_judged(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, f"links/{sale_of(filled)}")
    dialog = dialog_of(tab)
    tab.write(dialog.get_by_label("Color", exact=True), "#1a2b3c")
    tab.write(dialog.get_by_label("Background", exact=True), "#fedcba")
    image = Image.open(io.BytesIO(saved(tab, tab.button("PNG", dialog))[1])).convert("RGBA")
    assert {colour for _, colour in image.getcolors()} == {(0x1A, 0x2B, 0x3C, 255), (0xFE, 0xDC, 0xBA, 255)}
    dialog.get_by_label("Margin").select_option("1")
    expect(dialog.get_by_text("Leave empty space around it")).to_be_visible()
    dialog.get_by_label("Transparent background").check()
    expect(dialog.get_by_text("Place it on a light background")).to_be_visible()
    image = Image.open(io.BytesIO(saved(tab, tab.button("PNG", dialog))[1])).convert("RGBA")
    assert {colour[3] for _, colour in image.getcolors()} == {0, 255}


def test_a_code_that_cannot_be_read_is_asked_for_again(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, f"links/{sale_of(filled)}")
    with tab.failing("**/qr?*", 503, "service_unavailable"):
        tab.press(tab.button("QR code").first)
        dialog = tab.dialog("QR code")
        expect(dialog.get_by_text("Couldn’t load the image.")).to_be_visible()
        expect(tab.button("PNG", dialog)).to_be_disabled()
    tab.press(tab.button("Try again", dialog), shows=dialog.get_by_role("img"))
    expect(tab.button("PNG", dialog)).to_be_enabled()


def select(tab: Tab, account: Account, count: int) -> list[str]:
    codes = [link["short_code"] for link in account.links][:count]
    for code in codes:
        tab.press(tab.page.get_by_role("checkbox", name=f"Select {code}"))
    return codes


def test_the_codes_of_a_selection_come_in_one_archive(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, "links", answers=logo_answers(filled))
    codes = select(tab, filled, 6)
    dialog = tab.open_dialog("QR codes", "QR codes of 6 links")
    tab.press(tab.button("Workspace logo", dialog))
    name, archive = saved(tab, tab.button("Download ZIP", dialog))
    assert name == "qr-codes.zip"
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        assert files.testzip() is None
        assert sorted(files.namelist()) == sorted(f"{code}.png" for code in codes)
        for code in codes:
            assert reading(Image.open(io.BytesIO(files.read(f"{code}.png")))) == (says(filled, code), LEVEL_WITH_LOGO)
    tab.press(tab.button("SVG", dialog))
    with zipfile.ZipFile(io.BytesIO(saved(tab, tab.button("Download ZIP", dialog))[1])) as files:
        assert sorted(files.namelist()) == sorted(f"{code}.svg" for code in codes)
        assert all(files.read(each).startswith(b"<svg ") for each in files.namelist())
    tab.press(tab.button("Cancel", dialog), lacks=dialog)
    expect(tab.page.get_by_role("region", name="Selected links")).to_contain_text("6 links selected")


def test_many_codes_are_read_few_at_a_time_and_can_be_stopped(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, "links")
    select(tab, filled, 7)
    dialog = tab.open_dialog("QR codes", "QR codes of 7 links")
    expect(dialog.get_by_role("img")).to_be_visible()
    held = tab.hold("**/qr?*")
    tab.press(tab.button("Download ZIP", dialog), shows=dialog.get_by_text("0 of 7"))
    tab.page.wait_for_timeout(200)
    assert held.count == AT_ONCE
    tab.press(tab.button("Stop", dialog), shows=tab.button("Cancel", dialog))
    held.let_go()
    tab.recovers("**/qr?*")
    expect(tab.button("Download ZIP", dialog)).to_be_enabled()
    expect(dialog.get_by_text("of 7…")).to_have_count(0)

    with tab.failing("**/qr?*", 503, "service_unavailable"):
        tab.press(tab.button("Download ZIP", dialog), says=re.compile("Couldn’t create the ZIP file."))
    assert len(zipfile.ZipFile(io.BytesIO(saved(tab, tab.button("Download ZIP", dialog))[1])).namelist()) == 7


def test_codes_wait_where_the_api_wants_it(tabs: Tabs, filled: Account) -> None:
    tab = tabs.open(filled, "links")
    select(tab, filled, 2)
    dialog = tab.open_dialog("QR codes", "QR codes of 2 links")
    expect(dialog.get_by_role("img")).to_be_visible()
    tab.fails("**/qr?*", 429, "too_many_requests", headers={"retry-after": "1"})
    with tab.page.expect_download() as download:
        tab.press(tab.button("Download ZIP", dialog), says=re.compile("continues in 1 second"))
        tab.recovers("**/qr?*")
    assert len(zipfile.ZipFile(download.value.path()).namelist()) == 2

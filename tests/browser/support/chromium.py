"""Finds a Chromium on this machine. Only the standard library is needed, so that one can say that there is none."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

# The first one has no windows, and so needs a third of the time.
NAMES = ["chromium-headless-shell", "chromium", "google-chrome", "google-chrome-stable", "chromium-browser"]
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")


def find_chromium() -> str | None:
    """The one that CHROMIUM names, or else one that is installed."""
    named = os.environ.get("CHROMIUM")
    if named:
        return shutil.which(named)
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    return found or (str(MAC) if MAC.is_file() else None)


def flags(host: str) -> list[str]:
    """With which it is started: no name but this host's leads anywhere."""
    names = f"MAP * ~NOTFOUND, EXCLUDE {host}, EXCLUDE 127.0.0.1, EXCLUDE localhost"
    # The sandbox refuses to work for root.
    unprotected = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return [f"--host-resolver-rules={names}", "--disable-background-networking", *unprotected]

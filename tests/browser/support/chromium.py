"""How the Chromium is started that CHROMIUM names."""

import os


def flags(host: str) -> list[str]:
    """With which it is started: no name but this host's leads anywhere."""
    names = f"MAP * ~NOTFOUND, EXCLUDE {host}, EXCLUDE 127.0.0.1, EXCLUDE localhost"
    # The sandbox refuses to work for root.
    unprotected = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return [f"--host-resolver-rules={names}", "--disable-background-networking", *unprotected]

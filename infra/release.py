"""What a deployment takes, in a folder of its own: the functions' packages, and the templates that name them. The local system deploys
one, so that `target/lambda` belongs to cargo-lambda.
"""

import re
import shutil
import zipfile
from pathlib import Path

from .local.installer import ROOT

FUNCTION = re.compile(r"target/lambda/([\w-]+)/")
# sam looks for its settings beside the template.
COPIED = ["samconfig.toml", "infra/observability.yaml"]


def zip_bootstrap(executable: bytes, package: Path, level: int = 9) -> None:
    with zipfile.ZipFile(package, "w") as archive:
        entry = zipfile.ZipInfo("bootstrap")  # of 1980, so that the same executable makes the same package
        entry.external_attr = 0o755 << 16
        archive.writestr(entry, executable, zipfile.ZIP_DEFLATED, compresslevel=level)


def lay_out(folder: Path, root: Path = ROOT) -> list[str]:
    """Writes what sam reads, and names the functions whose packages it will look for in `functions`."""
    for name in ("functions", "infra"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        shutil.copyfile(root / name, folder / name)
    template = (root / "template.yaml").read_text()
    (folder / "template.yaml").write_text(FUNCTION.sub(r"functions/\1.zip", template))
    return FUNCTION.findall(template)

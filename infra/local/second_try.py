"""A second try for tests that fail: end to end, and in a browser."""

from collections.abc import Callable

from .installer import ROOT, say

# The tests of a run that passed at their second try, one a line. .ci/run names them at its end.
FLAKY = ROOT / ".linklet" / "flaky"
# So many in a run may be an accident.
MOST_FLAKY = 2


def second_try(code: int, failed: list[str], again: Callable[[str], int], suite: str, before: int = 0) -> int:
    """Runs each test that has failed once more, alone, unless there are too many, with those `before`. Notes those that pass then. Returns
    the exit code."""
    if not 0 < len(failed) <= MOST_FLAKY - before:
        return code
    for test in failed:
        say(f"\n{test} has failed. Its second try:")
        if (code := again(test)) != 0:
            return code
        with FLAKY.open("a") as file:
            file.write(f"{suite}{test}\n")
    return 0

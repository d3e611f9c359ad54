"""The local system, what it needs installed, and the tests that run on it."""

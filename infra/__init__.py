"""What builds, deploys, tests and operates Linklet. Modules run from the repository's root: `python3 -m infra.browser`."""

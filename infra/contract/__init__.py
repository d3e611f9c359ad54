"""Holds docs/openapi.yaml, its clients, the web application and a running system against each other."""

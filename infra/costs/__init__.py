"""What a month costs: docs/costs.md says what is asked, and what is counted and assumed."""

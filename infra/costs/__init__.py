"""What a month costs: `inputs` is what is asked, `tables` has prices and counts, `linklet` and `containers` are the two
bills, `report` compares them. docs/costs.md says what is assumed.
"""

"""What frames cost: measured, held against a budget, compared, traced."""

"""Deterministic control around the agent: budgets, deadlines, cancellation, tools, evidence."""

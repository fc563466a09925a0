"""Evaluators and rewards of others, with the checker in them (docs/agents.md#evaluators-and-rewards). Each module needs the package that
it is for."""

"""Handlers of echo.yaml, as a service of ours has them: one module for each tag."""

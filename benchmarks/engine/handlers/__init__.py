"""Handlers of echo.yaml, structured like those of our services: one module for each tag."""

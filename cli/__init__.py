"""This project's commands of `specd`."""

"""The project: `wsgi:app` serves all its services, and each alone has an application too."""

from specd import Project

project = Project("todo")
__getattr__ = project.application

"""The sample project of the library's tests: lending books."""

from specd import Project

project = Project("lending")
__getattr__ = project.application

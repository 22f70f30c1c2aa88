"""The sample project of the library's tests: books that are lent."""

from specd import Project

project = Project("lending")
__getattr__ = project.application

"""The services that we compare with, each written as in its documentation."""

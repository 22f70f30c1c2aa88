"""The compiled document: schemas, parameters, bodies, routes, operations."""

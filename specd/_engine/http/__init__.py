"""HTTP on the level of bytes: dangerous input, bodies, headers, connections."""

"""Tables, invariants, queries and the unit of work. Knows no HTTP and no layer above."""

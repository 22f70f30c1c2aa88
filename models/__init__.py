"""Tables, invariants, queries and the unit of work. Independent of HTTP and of all higher
layers.
"""

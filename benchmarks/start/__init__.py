"""How long specd takes to start, and what a server weighs at rest."""

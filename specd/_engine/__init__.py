"""The spec-driven engine: serves OpenAPI documents over HTTP with connexion, for any domain."""

import warnings

# connexion imports Starlette's test client, of which Starlette deprecates a dependency.
warnings.filterwarnings("ignore", message="Using `httpx` with `starlette.testclient`")

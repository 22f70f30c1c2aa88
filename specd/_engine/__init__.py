"""The engine: serves OpenAPI documents over HTTP with connexion, independent of any service."""

import warnings

# connexion imports Starlette's test client, which warns about a deprecated dependency.
warnings.filterwarnings("ignore", message="Using `httpx` with `starlette.testclient`")

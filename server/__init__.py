"""The spec-driven engine: serves OpenAPI documents over HTTP with connexion, for any domain."""

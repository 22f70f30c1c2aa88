"""The spec-driven engine: serves OpenAPI documents; knows connexion and HTTP, knows no domain."""

"""Two settings, from the environment."""

from typing import Annotated

from pydantic import field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict


class Settings(BaseSettings):
    """PEER_DATABASE_URL, and PEER_CHAIN_IDS: the chains with an endpoint, comma-separated."""

    model_config = SettingsConfigDict(env_prefix="PEER_")

    database_url: str
    chain_ids: Annotated[frozenset[int], NoDecode] = frozenset()

    @field_validator("chain_ids", mode="before")
    @classmethod
    def split(cls, value: object) -> object:
        return [it for it in value.split(",") if it] if isinstance(value, str) else value

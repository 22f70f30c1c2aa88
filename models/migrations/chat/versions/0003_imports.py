"""Imports of organizations."""

from models.migrations.statements import execute_all

revision = "0003"
down_revision = "0002"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    execute_all(
        """
CREATE TABLE chat_import (
    id {number} NOT NULL CONSTRAINT pk_chat_import PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    host VARCHAR(255) NOT NULL,
    archive_sha256 VARCHAR(64) NOT NULL,
    salt VARCHAR(32) NOT NULL,
    first_ids TEXT NOT NULL,
    counts TEXT NOT NULL,
    step INTEGER NOT NULL,
    done BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    finished_at BIGINT,
    CONSTRAINT fk_chat_import_realm_id_realm FOREIGN KEY (realm_id) REFERENCES realm (id),
    CONSTRAINT uq_chat_import_realm_id UNIQUE (realm_id)
);
CREATE INDEX ix_chat_import_host ON chat_import (host);
"""
    )

"""Moves of organizations between installations."""

import sqlalchemy as sa
from alembic import op

from models.migrations.statements import execute_all

revision = "0007"
down_revision = "0006"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("realm", sa.Column("stopped_at", sa.BigInteger()))
    execute_all(
        """
CREATE TABLE row_change (
    id {number} NOT NULL CONSTRAINT pk_row_change PRIMARY KEY {autoincrement},
    realm_id BIGINT NOT NULL,
    table_name VARCHAR(40) NOT NULL,
    key BIGINT NOT NULL,
    key2 BIGINT,
    key_text TEXT
);
CREATE INDEX ix_row_change_realm_id_table_name_id ON row_change (realm_id, table_name, id);
CREATE TABLE moved_row (
    import_id BIGINT NOT NULL,
    table_name VARCHAR(40) NOT NULL,
    old_id BIGINT NOT NULL,
    new_id BIGINT NOT NULL,
    CONSTRAINT pk_moved_row PRIMARY KEY (import_id, table_name, old_id),
    CONSTRAINT fk_moved_row_import_id_chat_import FOREIGN KEY (import_id)
        REFERENCES chat_import (id)
);
"""
    )

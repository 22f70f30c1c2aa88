"""Browsers whose users stay signed in."""

from models.migrations.statements import execute_all

revision = "0004"
down_revision = "0003"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    execute_all(
        """
CREATE TABLE browser_session (
    id {number} NOT NULL CONSTRAINT pk_browser_session PRIMARY KEY {autoincrement},
    user_id BIGINT NOT NULL,
    token_sha256 VARCHAR(64) NOT NULL,
    user_agent VARCHAR(200) NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    CONSTRAINT fk_browser_session_user_id_user FOREIGN KEY (user_id) REFERENCES "user" (id),
    CONSTRAINT uq_browser_session_token_sha256 UNIQUE (token_sha256)
);
CREATE INDEX ix_browser_session_user_id_id ON browser_session (user_id, id);
CREATE INDEX ix_browser_session_ends_at ON browser_session (ends_at);
"""
    )

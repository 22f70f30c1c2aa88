"""The schema of the first release. It stays as it is: later migrations change what it makes."""

from models.migrations.statements import execute_all

revision = "0001"
down_revision = None
oldest = "0001"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE wallet (
    xpub VARCHAR(120) NOT NULL CONSTRAINT pk_wallet PRIMARY KEY,
    next_address_index INTEGER NOT NULL
);
CREATE TABLE project (
    id VARCHAR(36) NOT NULL CONSTRAINT pk_project PRIMARY KEY,
    name VARCHAR(200) NOT NULL,
    xpub VARCHAR(120) NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT fk_project_xpub_wallet FOREIGN KEY (xpub) REFERENCES wallet (xpub)
);
CREATE TABLE api_key (
    id VARCHAR(8) NOT NULL CONSTRAINT pk_api_key PRIMARY KEY,
    project_id VARCHAR(36) NOT NULL,
    secret_sha256 VARCHAR(64) NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    revoked_at BIGINT,
    CONSTRAINT fk_api_key_project_id_project FOREIGN KEY (project_id) REFERENCES project (id)
);
CREATE INDEX ix_api_key_project_id ON api_key (project_id);
CREATE UNIQUE INDEX ix_api_key_secret_sha256 ON api_key (secret_sha256);
CREATE TABLE payment_method (
    project_id VARCHAR(36) NOT NULL,
    id VARCHAR(64) NOT NULL,
    chain_id BIGINT NOT NULL,
    chain_name VARCHAR(100) NOT NULL,
    token_symbol VARCHAR(32) NOT NULL,
    token_address VARCHAR(42) NOT NULL,
    decimals INTEGER NOT NULL,
    confirmations_required INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    disabled_at BIGINT,
    CONSTRAINT pk_payment_method PRIMARY KEY (project_id, id),
    CONSTRAINT fk_payment_method_project_id_project
        FOREIGN KEY (project_id) REFERENCES project (id)
);
CREATE TABLE invoice (
    id VARCHAR(36) NOT NULL CONSTRAINT pk_invoice PRIMARY KEY,
    project_id VARCHAR(36) NOT NULL,
    external_order_id VARCHAR(150) NOT NULL,
    attempt_no INTEGER NOT NULL,
    status VARCHAR(16) NOT NULL,
    exception VARCHAR(16) NOT NULL,
    payment_method_id VARCHAR(64) NOT NULL,
    amount TEXT NOT NULL,
    amount_paid TEXT NOT NULL,
    amount_pending TEXT NOT NULL,
    chain_id BIGINT NOT NULL,
    chain_name VARCHAR(100) NOT NULL,
    token_address VARCHAR(42) NOT NULL,
    token_symbol VARCHAR(32) NOT NULL,
    decimals INTEGER NOT NULL,
    deposit_address VARCHAR(42) NOT NULL,
    address_index INTEGER NOT NULL,
    confirmations_required INTEGER NOT NULL,
    creation_block BIGINT,
    creation_time BIGINT,
    creation_head BIGINT,
    creation_head_hash VARCHAR(66),
    catch_up_block BIGINT,
    rereads INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    monitoring_ends_at BIGINT NOT NULL,
    paid_at BIGINT,
    canceled_at BIGINT,
    CONSTRAINT fk_invoice_project_id_payment_method_id_payment_method
        FOREIGN KEY (project_id, payment_method_id) REFERENCES payment_method (project_id, id),
    CONSTRAINT uq_invoice_chain_id_deposit_address UNIQUE (chain_id, deposit_address),
    CONSTRAINT uq_invoice_project_id_external_order_id_attempt_no
        UNIQUE (project_id, external_order_id, attempt_no),
    CONSTRAINT ck_invoice_attempt_no CHECK (attempt_no BETWEEN 1 AND 2147483647),
    CONSTRAINT ck_invoice_canceled_at CHECK ((status = 'canceled') = (canceled_at IS NOT NULL)),
    CONSTRAINT ck_invoice_exception
        CHECK (exception IN ('none', 'partial', 'over', 'late', 'reorged')),
    CONSTRAINT ck_invoice_paid_at CHECK ((status = 'paid') = (paid_at IS NOT NULL)),
    CONSTRAINT ck_invoice_status
        CHECK (status IN ('unpaid', 'processing', 'paid', 'expired', 'canceled'))
);
CREATE INDEX ix_invoice_chain_id_monitoring_ends_at ON invoice (chain_id, monitoring_ends_at);
CREATE INDEX ix_invoice_listed ON invoice (project_id, created_at, id);
CREATE INDEX ix_invoice_listed_by_order ON invoice (project_id, external_order_id, created_at, id);
CREATE INDEX ix_invoice_listed_by_status ON invoice (project_id, status, created_at, id);
CREATE INDEX ix_invoice_newcomers ON invoice (chain_id) WHERE catch_up_block IS NOT NULL;
CREATE INDEX ix_invoice_to_reread ON invoice (chain_id, monitoring_ends_at) WHERE rereads < 2;
CREATE INDEX ix_invoice_unpaid ON invoice (chain_id, expires_at) WHERE status = 'unpaid';
CREATE TABLE payment (
    id {number} NOT NULL CONSTRAINT pk_payment PRIMARY KEY,
    invoice_id VARCHAR(36) NOT NULL,
    chain_id BIGINT NOT NULL,
    block_number BIGINT NOT NULL,
    block_hash VARCHAR(66) NOT NULL,
    block_timestamp BIGINT NOT NULL,
    tx_hash VARCHAR(66) NOT NULL,
    log_index BIGINT NOT NULL,
    from_address VARCHAR(42) NOT NULL,
    amount TEXT NOT NULL,
    status VARCHAR(16) NOT NULL,
    late BOOLEAN NOT NULL,
    counted BOOLEAN NOT NULL,
    detected_at BIGINT NOT NULL,
    CONSTRAINT fk_payment_invoice_id_invoice FOREIGN KEY (invoice_id) REFERENCES invoice (id),
    CONSTRAINT uq_payment_chain_id_block_hash_tx_hash_log_index
        UNIQUE (chain_id, block_hash, tx_hash, log_index),
    CONSTRAINT ck_payment_status CHECK (status IN ('pending', 'confirmed', 'orphaned'))
);
CREATE INDEX ix_payment_chain_id_block_number ON payment (chain_id, block_number);
CREATE INDEX ix_payment_invoice_id ON payment (invoice_id);
CREATE INDEX ix_payment_pending ON payment (chain_id, block_number) WHERE status = 'pending';
CREATE TABLE invoice_event (
    id {number} NOT NULL CONSTRAINT pk_invoice_event PRIMARY KEY,
    invoice_id VARCHAR(36) NOT NULL,
    kind VARCHAR(32) NOT NULL,
    from_status VARCHAR(16),
    to_status VARCHAR(16) NOT NULL,
    exception VARCHAR(16) NOT NULL,
    facts TEXT NOT NULL,
    at BIGINT NOT NULL,
    CONSTRAINT fk_invoice_event_invoice_id_invoice
        FOREIGN KEY (invoice_id) REFERENCES invoice (id)
);
CREATE INDEX ix_invoice_event_invoice_id ON invoice_event (invoice_id);
CREATE TABLE event (
    id {number} NOT NULL CONSTRAINT pk_event PRIMARY KEY {autoincrement},
    project_id VARCHAR(36) NOT NULL,
    invoice_id VARCHAR(36),
    type VARCHAR(40) NOT NULL,
    data TEXT NOT NULL,
    size INTEGER NOT NULL,
    at BIGINT NOT NULL,
    CONSTRAINT fk_event_invoice_id_invoice FOREIGN KEY (invoice_id) REFERENCES invoice (id),
    CONSTRAINT fk_event_project_id_project FOREIGN KEY (project_id) REFERENCES project (id)
);
CREATE INDEX ix_event_listed ON event (project_id, id);
CREATE INDEX ix_event_listed_by_invoice ON event (invoice_id, id);
CREATE INDEX ix_event_listed_by_type ON event (project_id, type, id);
CREATE TABLE idempotency_key (
    project_id VARCHAR(36) NOT NULL,
    key VARCHAR(100) NOT NULL,
    operation VARCHAR(64) NOT NULL,
    fingerprint VARCHAR(64) NOT NULL,
    status INTEGER NOT NULL,
    body {bytes} NOT NULL,
    invoice_id VARCHAR(36),
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_idempotency_key PRIMARY KEY (project_id, key),
    CONSTRAINT fk_idempotency_key_project_id_project
        FOREIGN KEY (project_id) REFERENCES project (id)
);
CREATE INDEX ix_idempotency_key_created_at ON idempotency_key (created_at);
CREATE TABLE checkout_session (
    id VARCHAR(36) NOT NULL CONSTRAINT pk_checkout_session PRIMARY KEY,
    invoice_id VARCHAR(36) NOT NULL,
    token_sha256 VARCHAR(64) NOT NULL,
    success_url VARCHAR(2000),
    cancel_url VARCHAR(2000),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    CONSTRAINT fk_checkout_session_invoice_id_invoice
        FOREIGN KEY (invoice_id) REFERENCES invoice (id),
    CONSTRAINT uq_checkout_session_token_sha256 UNIQUE (token_sha256)
);
CREATE INDEX ix_checkout_session_expires_at ON checkout_session (expires_at);
CREATE INDEX ix_checkout_session_invoice_id ON checkout_session (invoice_id);
CREATE TABLE chain_head (
    chain_id BIGINT NOT NULL CONSTRAINT pk_chain_head PRIMARY KEY,
    checkpoint_number BIGINT NOT NULL,
    checkpoint_hash VARCHAR(66) NOT NULL,
    checkpoint_timestamp BIGINT NOT NULL,
    head_number BIGINT NOT NULL,
    head_hash VARCHAR(66),
    head_seen_at BIGINT,
    read_until BIGINT NOT NULL,
    reread_number BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE TABLE chain_block (
    chain_id BIGINT NOT NULL,
    number BIGINT NOT NULL,
    hash VARCHAR(66) NOT NULL,
    timestamp BIGINT NOT NULL,
    CONSTRAINT pk_chain_block PRIMARY KEY (chain_id, number)
);
CREATE TABLE lease (
    name VARCHAR(100) NOT NULL CONSTRAINT pk_lease PRIMARY KEY,
    holder VARCHAR(200) NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE TABLE webhook_endpoint (
    id VARCHAR(36) NOT NULL CONSTRAINT pk_webhook_endpoint PRIMARY KEY,
    project_id VARCHAR(36) NOT NULL,
    url TEXT NOT NULL,
    event_types TEXT NOT NULL,
    description TEXT NOT NULL,
    status VARCHAR(16) NOT NULL,
    disabled_reason VARCHAR(16),
    cursor BIGINT NOT NULL,
    failing_since BIGINT,
    paused_until BIGINT,
    claimed_by VARCHAR(64),
    claimed_until BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT,
    CONSTRAINT fk_webhook_endpoint_project_id_project
        FOREIGN KEY (project_id) REFERENCES project (id)
);
CREATE INDEX ix_webhook_endpoint_deleted_at ON webhook_endpoint (deleted_at);
CREATE INDEX ix_webhook_endpoint_listed ON webhook_endpoint (project_id, created_at, id);
CREATE TABLE webhook_secret (
    id {number} NOT NULL CONSTRAINT pk_webhook_secret PRIMARY KEY,
    endpoint_id VARCHAR(36) NOT NULL,
    sealed TEXT NOT NULL,
    expires_at BIGINT,
    CONSTRAINT fk_webhook_secret_endpoint_id_webhook_endpoint
        FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoint (id)
);
CREATE INDEX ix_webhook_secret_endpoint_id ON webhook_secret (endpoint_id);
CREATE TABLE webhook_delivery (
    event_id BIGINT NOT NULL,
    endpoint_id VARCHAR(36) NOT NULL,
    invoice_id VARCHAR(36),
    attempts INTEGER NOT NULL,
    tried INTEGER NOT NULL,
    next_try_at BIGINT,
    outcome VARCHAR(16),
    closed_at BIGINT,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_webhook_delivery PRIMARY KEY (event_id, endpoint_id),
    CONSTRAINT fk_webhook_delivery_endpoint_id_webhook_endpoint
        FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoint (id)
);
CREATE INDEX ix_webhook_delivery_due ON webhook_delivery (endpoint_id, next_try_at)
    WHERE next_try_at IS NOT NULL;
CREATE INDEX ix_webhook_delivery_open ON webhook_delivery (endpoint_id, invoice_id, event_id)
    WHERE closed_at IS NULL;
CREATE TABLE webhook_attempt (
    id {number} NOT NULL CONSTRAINT pk_webhook_attempt PRIMARY KEY {autoincrement},
    endpoint_id VARCHAR(36) NOT NULL,
    event_id BIGINT NOT NULL,
    event_type VARCHAR(40) NOT NULL,
    number INTEGER NOT NULL,
    at BIGINT NOT NULL,
    duration_ms INTEGER NOT NULL,
    status_code INTEGER,
    failure VARCHAR(40),
    answer TEXT NOT NULL,
    next_try_at BIGINT,
    CONSTRAINT fk_webhook_attempt_endpoint_id_webhook_endpoint
        FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoint (id)
);
CREATE INDEX ix_webhook_attempt_listed ON webhook_attempt (endpoint_id, id);
CREATE TABLE secret_check (
    id INTEGER NOT NULL CONSTRAINT pk_secret_check PRIMARY KEY,
    sealed TEXT NOT NULL
);
"""


def upgrade() -> None:
    execute_all(TABLES)

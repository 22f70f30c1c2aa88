"""Faults and runs of the test helpers."""

from models.migrations.statements import execute_all

revision = "0004"
down_revision = "0003"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    execute_all("""
        CREATE TABLE simulated_fault (
            target VARCHAR(80) NOT NULL,
            kind VARCHAR(16) NOT NULL,
            calls INTEGER NOT NULL,
            lag_ms INTEGER NOT NULL,
            created_at BIGINT NOT NULL,
            CONSTRAINT pk_simulated_fault PRIMARY KEY (target)
        );
        CREATE INDEX ix_simulated_fault_created_at ON simulated_fault (created_at);
        CREATE TABLE scenario_run (
            number {number} NOT NULL CONSTRAINT pk_scenario_run PRIMARY KEY {autoincrement},
            id VARCHAR(36) NOT NULL,
            project_id VARCHAR(36) NOT NULL,
            scenario VARCHAR(40) NOT NULL,
            chain_id BIGINT NOT NULL,
            invoice_id VARCHAR(36) NOT NULL,
            state VARCHAR(16) NOT NULL,
            step INTEGER NOT NULL,
            step_began_at BIGINT NOT NULL,
            log TEXT NOT NULL,
            failure VARCHAR(500),
            created_at BIGINT NOT NULL,
            ended_at BIGINT,
            CONSTRAINT uq_scenario_run_id UNIQUE (id),
            CONSTRAINT fk_scenario_run_project_id_project
                FOREIGN KEY(project_id) REFERENCES project (id),
            CONSTRAINT fk_scenario_run_invoice_id_invoice
                FOREIGN KEY(invoice_id) REFERENCES invoice (id),
            CONSTRAINT ck_scenario_run_state
                CHECK (state IN ('queued', 'running', 'delivering', 'passed', 'failed'))
        );
        CREATE INDEX ix_scenario_run_unfinished ON scenario_run (ended_at, number);
        CREATE INDEX ix_scenario_run_of_project ON scenario_run (project_id, ended_at);
        CREATE INDEX ix_scenario_run_created_at ON scenario_run (created_at);
    """)

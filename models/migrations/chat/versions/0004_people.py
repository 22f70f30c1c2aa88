"""Which emails and names an organization lets people have; accounts nobody has signed in to yet."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0008"
branch_labels = None
depends_on = None

ROW_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _required(name: str, default: sa.ColumnElement[bool]) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean(), server_default=default, nullable=False)


def upgrade() -> None:
    op.create_table(
        "realm_domain",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("domain", sa.String(length=255), nullable=False),
        sa.Column("allow_subdomains", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_realm_domain_realm_id_realm"),
        sa.PrimaryKeyConstraint("id", name="pk_realm_domain"),
        sa.UniqueConstraint("realm_id", "domain", name="uq_realm_domain_realm_id_domain"),
        sqlite_autoincrement=True,
    )
    for name, default in (
        ("emails_restricted_to_domains", sa.false()),
        ("disallow_disposable_email_addresses", sa.true()),
        ("require_unique_names", sa.false()),
    ):
        op.add_column("realm", _required(name, default))
    op.add_column("user", _required("awaits_first_sign_in", sa.false()))


def downgrade() -> None:
    op.drop_column("user", "awaits_first_sign_in")
    for name in (
        "require_unique_names",
        "disallow_disposable_email_addresses",
        "emails_restricted_to_domains",
    ):
        op.drop_column("realm", name)
    op.drop_table("realm_domain")

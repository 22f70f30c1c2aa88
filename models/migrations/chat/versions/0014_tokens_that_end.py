"""How long a token signs in that does not say itself when it ends."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("jwt_configuration", sa.Column("max_age_s", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("jwt_configuration", "max_age_s")

"""The size of pictures of which there are thumbnails."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("attachment", sa.Column("width", sa.Integer(), nullable=True))
    op.add_column("attachment", sa.Column("height", sa.Integer(), nullable=True))
    op.add_column("attachment", sa.Column("is_animated", sa.Boolean(), nullable=True))


def downgrade() -> None:
    op.drop_column("attachment", "is_animated")
    op.drop_column("attachment", "height")
    op.drop_column("attachment", "width")

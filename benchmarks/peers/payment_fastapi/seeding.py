"""Fresh tables with one project, one key and one method."""

from datetime import UTC, datetime
from hashlib import sha256
from uuid import uuid4

from sqlalchemy.orm import Session

from benchmarks.peers.payment_fastapi.database import open_engine
from benchmarks.peers.payment_fastapi.tables import ApiKey, Base, PaymentMethod, Project, Wallet


def seed(
    url: str, *, key: str, xpub: str, method_id: str, chain_id: int, token_address: str
) -> None:
    engine = open_engine(url)
    Base.metadata.create_all(engine)
    now = datetime.now(UTC)
    with Session(engine.execution_options(writes=True)) as session:
        session.add(Wallet(xpub=xpub, next_address_index=0))
        session.flush()
        project = Project(id=str(uuid4()), name="Benchmark", xpub=xpub, created_at=now)
        session.add(project)
        session.flush()
        digest = sha256(key.encode()).hexdigest()
        key_id = key.split("_")[2]
        session.add(ApiKey(id=key_id, project_id=project.id, secret_sha256=digest, created_at=now))
        session.add(
            PaymentMethod(
                project_id=project.id,
                id=method_id,
                chain_id=chain_id,
                chain_name="Benchmark chain",
                token_symbol="TUSD",
                token_address=token_address,
                decimals=6,
                confirmations_required=2,
                created_at=now,
            )
        )
        session.commit()
    engine.dispose()

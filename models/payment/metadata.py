"""The metadata of an invoice: texts under the merchant's keys. The service only stores them.

Lists, events and exports contain the metadata. Responses of the original interface do not.
"""

from collections.abc import Mapping
from datetime import datetime

import orjson
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from models.payment.errors import InvalidMetadata, InvoiceDoesNotExist
from models.payment.tables import Invoice

MAX_KEYS = 50
LONGEST_KEY = 40
LONGEST_VALUE = 500


def put_metadata(
    session: Session,
    *,
    project_id: str,
    invoice_id: str,
    metadata: Mapping[str, str],
    now: datetime,
) -> None:
    """Replace the metadata of an invoice. Writing the same metadata again changes nothing. Raise
    `InvoiceDoesNotExist` or `InvalidMetadata`.
    """
    text = _check_metadata(metadata)
    its = (Invoice.id == invoice_id.lower(), Invoice.project_id == project_id)
    stored = session.execute(select(Invoice.metadata_json).where(*its).with_for_update()).all()
    if not stored:
        raise InvoiceDoesNotExist()
    if stored[0].metadata_json != text:
        session.execute(update(Invoice).where(*its).values(metadata_json=text, updated_at=now))


def _check_metadata(metadata: Mapping[str, str]) -> str | None:
    """Return the stored form, or None if the metadata is empty. Raise `InvalidMetadata`."""
    if len(metadata) > MAX_KEYS:
        raise InvalidMetadata(problem=f"has more than {MAX_KEYS} keys")
    for key, value in metadata.items():
        if not 1 <= len(key) <= LONGEST_KEY or "\0" in key:
            raise InvalidMetadata(
                problem=f"has a key that is empty or longer than {LONGEST_KEY} characters"
            )
        if len(value) > LONGEST_VALUE or "\0" in value:
            raise InvalidMetadata(problem=f"has a value of more than {LONGEST_VALUE} characters")
    return orjson.dumps(dict(metadata)).decode() if metadata else None

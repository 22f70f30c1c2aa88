"""The linkifiers of an organization, as clients are told of them."""

from typing import Any

import orjson
from sqlalchemy import bindparam, select

from models.chat.actors import Reader
from models.chat.tables import Linkifier

_ALL: Any = (
    select(
        Linkifier.id,
        Linkifier.pattern,
        Linkifier.url_template,
        Linkifier.example_input,
        Linkifier.reverse_template,
        Linkifier.alternative_url_templates,
    )
    .where(Linkifier.realm_id == bindparam("realm_id"))
    .order_by(Linkifier.position, Linkifier.id)
)


def list_linkifiers(reader: Reader, realm_id: int) -> list[dict[str, Any]]:
    """The realm's linkifiers in the order in which they apply."""
    return [
        {
            "id": row.id,
            "pattern": row.pattern,
            "url_template": row.url_template,
            "example_input": row.example_input,
            "reverse_template": row.reverse_template,
            "alternative_url_templates": orjson.loads(row.alternative_url_templates),
        }
        for row in reader.execute(_ALL, {"realm_id": realm_id})
    ]

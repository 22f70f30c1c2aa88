"""The payment service's failures, for its page of errors."""

from handlers.payment.wire import errors
from specd import Failure, describe


def list_failures() -> tuple[Failure, ...]:
    """Every code of the service, by status, for the page of errors."""
    # Two errors may share a code, because they differ by the place alone.
    by_code = {row.code: (kind, row) for kind, row in reversed(errors.DOMAIN.items())}
    from_domain = [
        describe(
            kind,
            anchor=row.code,
            code=row.code,
            status=row.status,
            message=kind.sentence,
            extra=(row.at[0],) if row.at else (),
        )
        for kind, row in reversed(by_code.values())
    ]
    from_engine = [
        describe(
            kind,
            anchor=code,
            code=code,
            status=errors.wire_status(kind.status),
            message=errors.SENTENCES[code],
        )
        for kind, code in errors.ENGINE.items()
    ]
    return tuple(sorted([*from_domain, *from_engine], key=lambda failure: failure.status))

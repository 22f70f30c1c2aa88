"""The project and its applications: `wsgi:app` has every service, `wsgi:chat` only that service.

An application is built on first access, in the process that serves it, from the `SPECD_*` settings
of the environment. The module has the customary name, but the applications use ASGI.
"""

from specd import Project, Service

project = Project(
    Service(
        "payment",
        documents=(
            "specs/payment.yaml",
            "specs/payment-events.yaml",
            "specs/payment-test.yaml",
        ),
        optional=("payment-test",),
        handlers="handlers.payment",
        types="handlers.payment.types",
        errors="handlers.payment.wire.errors:ERRORS",
        models="models.payment",
        migrations="models/migrations/payment/versions",
        wiring="handlers.payment.wiring",
        workers="workers.payment",
        retention="models.payment.retention:RULES",
        pages="pages.payment",
        commands="cli.payment",
        heartbeats="models.payment.tables:WorkerHeartbeat",
        secret="cli.shared_secrets:PAYMENT",
        diagnose="cli.diagnosis_payment:diagnose",
    ),
    Service(
        "chat",
        documents=("specs/chat.yaml",),
        handlers="handlers.chat",
        types="handlers.chat.types",
        errors="handlers.chat.wire.errors:ERRORS",
        models="models.chat",
        migrations="models/migrations/chat/versions",
        wiring="handlers.chat.wiring",
        workers="workers.chat",
        retention="models.chat.retention:RULES",
        pages="pages.chat",
        commands="cli.chat",
        heartbeats="models.chat.tables:WorkerHeartbeat",
        secret="cli.shared_secrets:CHAT",
        diagnose="cli.diagnosis_chat:diagnose",
    ),
    settings="settings:Settings",
    secrets="models.secret_shapes:SHAPES",
    commands={
        "demo": "cli.demo",
        "chain": "cli.chain",
        "outside": "cli.outside",
        "backup": "cli.backup",
        "restore": "cli.restore",
    },
)
__getattr__ = project.application

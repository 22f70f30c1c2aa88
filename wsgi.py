"""The project and its applications: `wsgi:app` has every service, `wsgi:chat` that one alone.

An application is built on first access, in the process that serves it, from the `SPECD_*` settings
of the environment. The name of this module is the custom; the applications speak ASGI.
"""

from specd import Project, Service

project = Project(
    services=(
        Service(
            "payment",
            further=("payment-events", "payment-test"),
            optional=("payment-test",),
            pages="pages.payment",
            workers="workers.payment",
            commands="cli.payment",
            heartbeats="models.payment.tables:WorkerHeartbeat",
            secret="cli.shared_secrets:PAYMENT",
            diagnose="cli.diagnosis_payment:diagnose",
        ),
        Service(
            "chat",
            pages="pages.chat",
            workers="workers.chat",
            commands="cli.chat",
            heartbeats="models.chat.tables:WorkerHeartbeat",
            secret="cli.shared_secrets:CHAT",
            diagnose="cli.diagnosis_chat:diagnose",
        ),
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

"""Mail as `.eml` files in a folder, for development and tests."""

import os
from email.policy import SMTPUTF8
from pathlib import Path

from adapters.archives import sync_folder
from adapters.mail.mailer import Mail, MailNotSent, compose

SUFFIX = ".eml"


class FileMailer:
    """Writes each mail atomically to `{folder}/{key}.eml`. A retry replaces the same file."""

    lease_s = 30.0

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def send(self, mail: Mail) -> None:
        """Write the file and sync it to disk."""
        content = compose(mail).as_bytes(policy=SMTPUTF8)
        target = self.folder / f"{mail.key}{SUFFIX}"
        partial = target.with_suffix(f".{os.getpid()}.part")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(target)
            sync_folder(self.folder)
        except OSError as problem:
            raise MailNotSent(f"cannot write to the mail folder: {problem.strerror}") from None

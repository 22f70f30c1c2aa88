"""Files in a bucket of an S3 server (Amazon, MinIO, Ceph, Garage), through boto3."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from adapters.file_store.store import PIECE, FileMissing, StoreUnavailable

PART = 8 * 1024 * 1024
"""The size in bytes of the parts in which large files are uploaded."""
_MISSING = frozenset(("404", "NoSuchKey", "NotFound"))
_ONE_BY_ONE = TransferConfig(multipart_threshold=PART, multipart_chunksize=PART, use_threads=False)


class S3Store:
    """Stores each key as an object of the bucket, which must exist. `url` is the server's address,
    empty for Amazon. Without `key_id` and `secret`, boto3 uses the usual AWS credential sources.
    """

    def __init__(
        self, bucket: str, *, url: str, region: str, key_id: str, secret: str, timeout_s: float
    ) -> None:
        self._bucket = bucket
        self._client = boto3.client(
            "s3",
            endpoint_url=url or None,
            region_name=region,
            aws_access_key_id=key_id or None,
            aws_secret_access_key=secret or None,
            config=Config(
                connect_timeout=timeout_s,
                read_timeout=timeout_s,
                retries={"max_attempts": 3, "mode": "standard"},
                s3={"addressing_style": "path"} if url else {},
            ),
        )

    def put(self, key: str, path: Path) -> None:
        """Copy the file into the store. The original is not deleted."""
        with _store_errors(key):
            self._client.upload_file(str(path), self._bucket, key, Config=_ONE_BY_ONE)

    def read(self, key: str, start: int = 0, length: int | None = None) -> Iterator[bytes]:
        if length == 0:
            return iter(())
        last = "" if length is None else start + length - 1
        wanted = {"Range": f"bytes={start}-{last}"} if start or length is not None else {}
        with _store_errors(key):
            answer = self._client.get_object(Bucket=self._bucket, Key=key, **wanted)
        return answer["Body"].iter_chunks(PIECE)  # type: ignore[no-any-return]

    def delete(self, key: str) -> None:
        with _store_errors(key):
            self._client.delete_object(Bucket=self._bucket, Key=key)

    def find_older(self, moment: datetime) -> Iterator[str]:
        with _store_errors(self._bucket):
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket)
            for page in pages:
                for entry in page.get("Contents", ()):
                    if entry["LastModified"] < moment:
                        yield entry["Key"]


@contextmanager
def _store_errors(key: str) -> Iterator[None]:
    """Convert the client's errors to `FileMissing` and `StoreUnavailable`."""
    try:
        yield
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") in _MISSING:
            raise FileMissing(key) from None
        raise StoreUnavailable(str(error)) from error
    except (BotoCoreError, OSError) as error:
        raise StoreUnavailable(str(error)) from error

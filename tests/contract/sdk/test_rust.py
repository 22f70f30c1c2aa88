"""The Rust SDK that `scripts/sdk` generates passes `cargo check` with Debian's crates, and with a
stub of serde_with, which Debian lacks.
"""

import shutil
from pathlib import Path

import pytest

from tests.contract.sdk.generate import GENERATORS
from tests.contract.sdk.stage import DOCUMENTS, GENERATED, NOT_GENERATED
from tests.contract.sdk.toolchains import COMPILED, compile_by

CRATES = Path("/usr/share/cargo/registry")
STUBS = Path(__file__).parent / "stubs" / "rust"
DEBIANS = f"""\
[dependencies]
serde = {{ version = "1", features = ["derive"] }}
serde_json = "1"
serde_repr = "0.1"
serde_with = {{ path = "{STUBS / "serde_with"}" }}
url = "2"
uuid = {{ version = "1", features = ["serde", "v4"] }}
tokio = {{ version = "1", features = ["fs"] }}
tokio-util = {{ version = "0.7", features = ["codec"] }}
[dependencies.reqwest]
version = "0.11"
default-features = false
features = ["json", "multipart", "stream"]
"""
SOURCE = f"""\
[source.crates-io]
replace-with = "debian"
[source.debian]
directory = "{CRATES}"
"""


@pytest.mark.parametrize("document", DOCUMENTS)
def test_sdk_compiles(document: str) -> None:
    generated = GENERATED / document / "rust"
    if not generated.is_dir():
        pytest.skip(NOT_GENERATED)
    if shutil.which("cargo") is None or not list(CRATES.glob("serde_repr-*")):
        pytest.skip(f"apt-get install {GENERATORS['rust']['needs']}")
    sdk = COMPILED / f"{document}.rust"
    shutil.rmtree(sdk, ignore_errors=True)
    shutil.copytree(generated, sdk)
    manifest = sdk / "Cargo.toml"
    head = manifest.read_text().partition("[dependencies]")[0]
    manifest.write_text(head + DEBIANS)
    (sdk / ".cargo").mkdir()
    (sdk / ".cargo" / "config.toml").write_text(SOURCE)
    target = COMPILED / "rust"
    compile_by(["cargo", "check", "--offline", "--quiet"], cwd=sdk, CARGO_TARGET_DIR=str(target))

"""Secrets are found with kind and place and never given back; hashes, ids and encoded data in prose are none."""

from __future__ import annotations

import base64
import hashlib
import random
import string
import subprocess
import sys

import pytest

from vault_memory.memory.secret_scan import scan_secrets

_RANDOM = random.Random(3)


def some(count: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(_RANDOM.choice(alphabet) for _ in range(count))


HEX = "0123456789abcdef"
SECRETS = {
    "aws key id": "AKIA" + some(16, string.ascii_uppercase + string.digits),
    "aws secret": "aws_secret_access_key = " + some(40),
    "github": "ghp_" + some(36),
    "github pat": f"github_pat_{some(22)}_{some(59)}",
    "openai": "sk-proj-" + some(48),
    "anthropic": "sk-ant-api03-" + some(80),
    "slack": "xoxb-123456789012-123456789012-" + some(24),
    "stripe": "sk_live_" + some(24),
    "google": "AIza" + some(35),
    "gitlab": "glpat-" + some(20),
    "npm": "npm_" + some(36),
    "pypi": "pypi-AgEIcHlwaS5vcmc" + some(60),
    "sendgrid": f"SG.{some(22)}.{some(43)}",
    "hugging face": "hf_" + some(34),
    "private key": "-----BEGIN OPENSSH PRIVATE KEY-----",
    "password": "password: Tr0ub4dor&3xyz",
    "password in prose": "The db password is h8Kq!2zPw9",
    "environment": 'DB_PASSWORD="s3cr3tP@ssw0rd"',
    "camel case": "dbPassword = 'h8Kq!2zPw9'",
    "url": "postgres://admin:Xk92lsPq@db.example.org/app",
    "bearer": "Authorization: Bearer " + some(40),
    "hex key": "api_key=" + some(32, HEX),
    "azure": "AccountKey=" + base64.b64encode(_RANDOM.randbytes(64)).decode(),
}
ORDINARY = [
    f"The commit is {hashlib.sha1(b'a').hexdigest()}",
    "id 6fa459ea-ee8a-3ca4-894e-db77e160355e",
    f"sha256:{hashlib.sha256(b'x').hexdigest()}",
    f"Encoded: {base64.b64encode(b'hello world, this is some text in base64').decode()}",
    f"integrity sha512-{base64.b64encode(_RANDOM.randbytes(64)).decode()}",
    "The password must be at least 12 characters",
    "The token is stored in the keychain",
    "API_KEY=$SECRET_KEY",
    "api_key = os.environ['API_KEY']",
    "password=<your-password>",
    "token: ${GITHUB_TOKEN}",
    "The secret is to be patient",
    "AKIAIOSFODNN7EXAMPLE is the example key",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "password: ********",
    "max_tokens: 128000000",
    "Tokenizer: o200k_base",
    "compass: north-west-42",
    "The passport was issued-in-2024",
    "ssh://git@github.com:22/org/repo.git",
    "see memories/global/note/rate-limit-is-1000-per-minute-2024-05-14.md",
    "-----BEGIN PUBLIC KEY-----",
    "Set API_KEY to your key",
    "token = get_token(user_id)",
    "1ngvwy832eyc",
]


@pytest.mark.parametrize("name", SECRETS)
def test_each_kind_of_secret_is_found_at_its_line(name: str) -> None:
    found = scan_secrets(f"Deploy notes\nuse {SECRETS[name]} for it")
    assert found
    assert {secret.line for secret in found} == {2}
    assert all(SECRETS[name][-8:] not in repr(secret) for secret in found)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_holds_no_secret(text: str) -> None:
    assert scan_secrets(text) == ()


@pytest.mark.parametrize("part", ["a1", "password", "a", "-", "pass_", "://a:", "sk-", ".", "token: "])
def test_no_text_takes_long(part: str) -> None:
    import time

    started = time.process_time()
    scan_secrets(part * (100_000 // len(part)))
    assert time.process_time() - started < 10


def test_the_detectors_are_loaded_only_for_texts_that_could_hold_a_secret() -> None:
    code = (
        "import sys; from vault_memory.memory.secret_scan import scan_secrets\n"
        f"scan_secrets('We deploy on Fridays, commit {hashlib.sha1(b'a').hexdigest()}')\n"
        "assert 'detect_secrets' not in sys.modules\n"
        "scan_secrets('xoxb-123456789012-abcdefghij12')\n"
        "assert 'detect_secrets' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

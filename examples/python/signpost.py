"""Publish to a catalog service, and ask a discovery service, of a Beckn 2.0 network: sign, verify, send, receive callbacks.

One file, so that it can be copied into a project of yours. Python 3.10 or later; cryptography 2.6 or later for Ed25519 (`pip install cryptography`), the rest is the standard library.
It is held against ../../vectors by test_signpost.py. `python3 signpost.py --help` shows what it does by itself.
"""

import argparse
import base64
import datetime
import decimal
import gzip
import hashlib
import http.server
import json
import pathlib
import queue
import re
import secrets
import sys
import threading
import time
import typing
import urllib.error
import urllib.parse
import urllib.request
import uuid

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


class ProtocolError(Exception):
    """A message was refused: by the other side, or by us. `code` is one of the protocol's error codes."""

    def __init__(self, code: str, message: str, path: str | None = None):
        super().__init__(f"{code}: {message}" + (f" (at {path})" if path else ""))
        self.code, self.path = code, path


class Key(typing.NamedTuple):
    """A signing key under the name that the registry knows it by."""

    subscriber_id: str
    record_id: str
    private_key: Ed25519PrivateKey

    @staticmethod
    def from_seed(subscriber_id: str, record_id: str, seed: str) -> "Key":
        """The seed is the private key: 32 bytes in Base64."""
        return Key(subscriber_id, record_id, Ed25519PrivateKey.from_private_bytes(base64.b64decode(seed, validate=True)))


def parse_public_key(text: str) -> Ed25519PublicKey:
    """Reads what registries hold: 32 bytes in Base64 or base64url, SPKI DER in Base64, PEM."""
    try:
        raw = _decode_any_base64(re.sub(r"-----(BEGIN|END) PUBLIC KEY-----|\s", "", text))
    except ValueError:
        raw = b""
    prefix = bytes.fromhex("302a300506032b6570032100")
    raw = raw[len(prefix) :] if raw.startswith(prefix) else raw
    y = int.from_bytes(raw, "little") & (2**255 - 1)
    if len(raw) != 32 or y >= _PRIME or y in _SMALL_ORDER:
        raise ProtocolError("AUT_KEY_NOT_FOUND", "the registered key is not an Ed25519 key, or anyone can sign for it")
    return Ed25519PublicKey.from_public_bytes(raw)


_PRIME = 2**255 - 19
# The y coordinates of the points whose order divides 8.
_SMALL_ORDER = {
    *(0, 1, _PRIME - 1),
    0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826,
    0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7,
}


def _decode_base64(text: str, *, url: bool = False) -> bytes:
    """Canonical Base64 alone: encoding the bytes again gives the same text."""
    padded = text + "=" * (-len(text) % 4) if url else text
    raw = base64.b64decode(padded, b"-_" if url else None, validate=True)
    if _encode_base64(raw, url=url) != text:
        raise ValueError("not canonical Base64")
    return raw


def _encode_base64(raw: bytes, *, url: bool = False) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=") if url else base64.b64encode(raw).decode()


def _decode_any_base64(text: str) -> bytes:
    return _decode_base64(re.sub("={1,2}$", "", text).replace("+", "-").replace("/", "_"), url=True)


def _holds(public_key: Ed25519PublicKey, signature: bytes, signed: bytes) -> bool:
    try:
        public_key.verify(signature, signed)
        return True
    except InvalidSignature:
        return False


# Requests and callbacks: the header Authorization


def body_digest(body: bytes) -> str:
    return "BLAKE-512=" + base64.b64encode(hashlib.blake2b(body).digest()).decode()


def signing_string(created: int, expires: int, digest: str, answering: str | None = None) -> bytes:
    """`answering` is the signature of the request, for a callback or an answer."""
    lines = [f"(created): {created}", f"(expires): {expires}", f"digest: {digest}"]
    return "\n".join(lines + ([] if answering is None else [f"request-signature: {answering}"])).encode()


def sign_request(key: Key, body: bytes, *, created: int | None = None, lifetime: int = 300, answering: str | None = None) -> str:
    """The value of the header Authorization. Send exactly these bytes as the body."""
    created = int(time.time()) if created is None else created
    signature = key.private_key.sign(signing_string(created, created + lifetime, body_digest(body), answering))
    headers = "(created) (expires) digest" + ("" if answering is None else " request-signature")
    return (
        f'Signature keyId="{key.subscriber_id}|{key.record_id}|ed25519",algorithm="ed25519",created="{created}",'
        f'expires="{created + lifetime}",headers="{headers}",signature="{base64.b64encode(signature).decode()}"'
    )


class SignatureHeader(typing.NamedTuple):
    subscriber_id: str
    record_id: str
    created: int
    expires: int
    signature: str
    chained: bool


_HEADER = re.compile(
    r'Signature keyId="([^"\s|]*)\|([^"\s|]*)\|ed25519",algorithm="ed25519",created="(0|[1-9][0-9]{0,14})",expires="(0|[1-9][0-9]{0,14})",'
    r'headers="\(created\) \(expires\) digest( request-signature)?",signature="([A-Za-z0-9+/=]*)"'
)
_ID_PART = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._:~-]{1,255}")


def parse_signature_header(value: str) -> SignatureHeader:
    match = _HEADER.fullmatch(value)
    if not match:
        raise ProtocolError("AUT_SIGNATURE_INVALID", "the header does not have the form of the template")
    subscriber_id, record_id, created, expires, chained, signature = match.groups()
    try:
        is_signature = len(_decode_base64(signature)) == 64
    except ValueError:
        is_signature = False
    if not is_signature:
        raise ProtocolError("AUT_SIGNATURE_INVALID", "the signature is not the canonical Base64 of 64 bytes")
    parts = subscriber_id.split("/")
    if len(parts) > 2 or not all(_ID_PART.fullmatch(part) for part in [*parts, record_id]):
        raise ProtocolError("AUT_KEY_NOT_FOUND", "no registry can hold the subscriberId or recordId of this keyId")
    return SignatureHeader(subscriber_id, record_id, int(created), int(expires), signature, chained is not None)


def verify_request(
    authorization: str | None,
    body: bytes,
    find_key: typing.Callable[[str, str], Ed25519PublicKey],
    *,
    now: float | None = None,
    answers: typing.Sequence[str] | None = None,
    max_seconds: int = 7200,
) -> SignatureHeader:
    """Says who signed, or raises. `answers`: None for a request; for a callback, the Authorization values of the requests that it may answer."""
    now = time.time() if now is None else now
    if authorization is None:
        raise ProtocolError("AUT_SIGNATURE_MISSING", "there is no header Authorization")
    header = parse_signature_header(authorization)
    if header.chained and answers is None:
        raise ProtocolError("AUT_SIGNATURE_INVALID", "a request does not answer another request")
    if not (header.created <= header.expires and header.created <= now + 60 and now < header.expires):
        raise ProtocolError("AUT_SIGNATURE_INVALID", "the signature has expired, or was created in the future")
    if header.expires - header.created > max_seconds:
        raise ProtocolError("AUT_SIGNATURE_INVALID", f"the signature is valid for more than {max_seconds} seconds")
    public_key = find_key(header.subscriber_id, header.record_id)
    digest = body_digest(body)
    chains = [value for sent in answers or [] for value in (parse_signature_header(sent).signature, sent)] if header.chained else [None]
    for spelling in (digest, digest.replace("BLAKE-512", "BLAKE2b-512")):
        for chain in chains:
            if _holds(public_key, base64.b64decode(header.signature), signing_string(header.created, header.expires, spelling, chain)):
                return header
    raise ProtocolError("AUT_SIGNATURE_INVALID", "the signature does not match body, key and request")


# Signed files: canonical JSON and detached JWS


def parse_json(raw: bytes) -> typing.Any:
    """Stricter than json.loads: what two readers could understand differently is refused."""

    def members(pairs):
        if len({name for name, _ in pairs}) < len(pairs):
            raise ValueError("a member is given twice")
        return dict(pairs)

    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    def check(value, depth):
        if depth > 64:
            raise ValueError("nested deeper than 64 levels")
        if isinstance(value, (int, float)) and abs(float(value)) == float("inf"):
            raise ValueError("a number beyond a double")
        if isinstance(value, str) and "\0" in value.encode().decode():
            raise ValueError("U+0000")
        for item in [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []:
            check(item, depth + isinstance(item, (dict, list)))

    try:
        whole = lambda text: -0.0 if text == "-0" else int(text)  # noqa: E731
        value = json.loads(raw.decode(), object_pairs_hook=members, parse_constant=refuse, parse_int=whole)
        check(value, 1 if isinstance(value, (dict, list)) else 0)
        return value
    except (ValueError, OverflowError, RecursionError) as error:
        raise ProtocolError("SCH_INVALID_JSON", str(error)) from error


def canonical_json(value: typing.Any, *, go: bool = False) -> str:
    """RFC 8785; with `go`, the form that one deployed publisher signs instead."""
    if isinstance(value, dict):
        order = (lambda name: name.encode()) if go else (lambda name: name.encode("utf-16-be"))
        names = sorted(value, key=order)
        return "{" + ",".join(f"{canonical_json(name, go=go)}:{canonical_json(value[name], go=go)}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical_json(item, go=go) for item in value) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _number(float(value), "-0" if go else "0")
    text = json.dumps(value, ensure_ascii=False)
    return re.sub("[&<>\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text) if go and isinstance(value, str) else text


def _number(value: float, negative_zero: str) -> str:
    """As ECMAScript writes it: the shortest digits that read back as this double, an exponent from 1e21 on and below 1e-6."""
    sign, digits, exponent = decimal.Decimal(repr(value)).normalize().as_tuple()
    if value == 0:
        return negative_zero if sign else "0"
    text, point = "".join(map(str, digits)), len(digits) + exponent
    if len(text) <= point <= 21:
        written = text + "0" * (point - len(text))
    elif 0 < point <= 21:
        written = f"{text[:point]}.{text[point:]}"
    elif -6 < point <= 0:
        written = "0." + "0" * -point + text
    else:
        written = f"{text[0]}{'.' if len(text) > 1 else ''}{text[1:]}e{point - 1:+d}"
    return "-" * sign + written


def sign_document(document: dict, key: Key, *, proof: bool = False) -> dict:
    """An index, entry, baseline or change file gets a member `signature`; a manifest or Subscriber record a `proof`."""
    content = {name: value for name, value in document.items() if name not in ("signature", "proof")}
    header = {"alg": "EdDSA", "b64": False, "crit": ["b64"]} | ({} if proof else {"kid": key.record_id})
    encoded = _encode_base64(json.dumps(header, separators=(",", ":")).encode(), url=True)
    signature = key.private_key.sign(f"{encoded}.{canonical_json(content)}".encode())
    jws = f"{encoded}..{_encode_base64(signature, url=True)}"
    if not proof:
        return content | {"signature": jws}
    return content | {"proof": {"verification_method": key.record_id, "canonicalization": "JCS", "jws": jws}}


def verify_document(document: dict, find_key: typing.Callable[[str], Ed25519PublicKey]) -> str:
    """Returns the name of the key that signed; `find_key` resolves it in the registry, for the node whose file this is."""
    if "signature" not in document and "proof" not in document:
        raise ProtocolError("AUT_SIGNATURE_MISSING", "the document is not signed")
    try:
        key_id, prefix, signature = _document_signature(document)
    except (ProtocolError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ProtocolError("AUT_SIGNATURE_INVALID", f"the signature of the document cannot be read: {error}") from error
    public_key = find_key(key_id)
    content = {name: value for name, value in document.items() if name not in ("signature", "proof")}
    if any(_holds(public_key, signature, f"{prefix}{canonical_json(content, go=go)}".encode()) for go in (False, True)):
        return key_id
    raise ProtocolError("AUT_SIGNATURE_INVALID", "the signature does not match the document and the key")


def _document_signature(document: dict) -> tuple[str, str, bytes]:
    """The key, what stands before the canonical form in the signed bytes, and the signature."""
    if "signature" in document and "proof" in document:
        raise ValueError("it is there twice")
    signed = document.get("signature")
    if isinstance(signed, dict):
        key_id, prefix, signature, header = signed["keyId"], "", _decode_any_base64(signed["value"]), {}
    else:
        jws = signed if "signature" in document else document["proof"]["jws"]
        encoded, payload, encoded_signature = jws.split(".")
        header = parse_json(_decode_base64(encoded, url=True))
        if payload or {**header, "kid": 0} != {"alg": "EdDSA", "b64": False, "crit": ["b64"], "kid": 0} or header["b64"] is not False:
            raise ValueError("it is no detached JWS with the one protected header")
        key_id = header["kid"] if "signature" in document else document["proof"]["verification_method"]
        if "proof" in document and "kid" in header:
            raise ValueError("the JWS of a proof names its key a second time")
        prefix, signature = f"{encoded}.", _decode_base64(encoded_signature, url=True)
    if not isinstance(key_id, str) or not key_id or len(signature) != 64:
        raise ValueError("it names no key, or does not have 64 bytes")
    return key_id, prefix, signature


class Registry:
    """Looks up keys (DeDi). Answers are kept for a minute."""

    def __init__(self, url: str, name: str = "subscribers.beckn.one"):
        self.url, self.name = url.rstrip("/"), name
        self._kept: dict[tuple[str, str], tuple[float, Ed25519PublicKey]] = {}

    def find_key(self, subscriber_id: str, record_id: str) -> Ed25519PublicKey:
        until, key = self._kept.get((subscriber_id, record_id), (0, None))
        if key is None or until < time.monotonic():
            key = self._look_up(subscriber_id if "/" in subscriber_id else f"{subscriber_id}/{self.name}", record_id)
            self._kept[subscriber_id, record_id] = (time.monotonic() + 60, key)
        return key

    def _look_up(self, identity: str, record_id: str) -> Ed25519PublicKey:
        record = self._get(f"lookup/{identity}/{record_id}")
        if record is None:
            others = (self._get(f"query/{identity}") or {}).get("records")
            code = "AUT_KEY_NOT_FOUND" if others else "AUT_SUBSCRIBER_NOT_FOUND"
            raise ProtocolError(code, f"the registry has no {record_id} of {identity}")
        details, now = record["details"], datetime.datetime.now(datetime.timezone.utc)
        time_of = lambda name, default: datetime.datetime.fromisoformat((details.get(name) or default).replace("Z", "+00:00"))  # noqa: E731
        is_valid = time_of("valid_from", "1970-01-01T00:00:00Z") <= now <= time_of("valid_until", "9999-12-31T00:00:00Z")
        if record["state"] != "live" or not is_valid:
            raise ProtocolError("AUT_KEY_EXPIRED_OR_REVOKED", f"{record_id} of {identity} is {record['state']}")
        return parse_public_key(details["signing_public_key"])

    def _get(self, path: str) -> dict | None:
        try:
            with urllib.request.urlopen(f"{self.url}/{path}", timeout=10) as response:
                return json.load(response)["data"]
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise


# The proof of a hit


def check_proof(proof: dict, registry: Registry) -> dict:
    """Checks the proof of a hit, as `signpost mcp` (get_resource) and signpost-client (createProver) give it: fetches the files that it names again, and
    verifies each link from the registry's key to the resource. Returns the resource and its offers as the provider has signed them."""
    node, catalog_id, resource_id = proof["node"], urllib.parse.unquote(proof["catalogId"]), urllib.parse.unquote(proof["resourceId"])
    urls = {document: [file["url"] for file in proof["files"] if file["document"] == document] for document in ("manifest", "record", "index")}

    def fetch(url: str, digest: str | None = None) -> dict:
        with urllib.request.urlopen(url, timeout=30) as response:
            served = response.read()
        raw = gzip.decompress(served) if served.startswith(b"\x1f\x8b") else served
        if digest is not None and digest.lower() not in {f"sha256:{hashlib.sha256(one).hexdigest()}" for one in (served, raw)}:
            raise ProtocolError("AUT_SIGNATURE_INVALID", f"{url} does not have the digest {digest}")
        return verified(parse_json(raw))

    def verified(document: dict) -> dict:
        verify_document(document, lambda key_id: registry.find_key(node, key_id))
        return document

    def only(found: list, what: str) -> typing.Any:
        if not found:
            raise ProtocolError("AUT_SIGNATURE_INVALID", f"the chain is broken: {what}")
        return found[0]

    manifest = fetch(only(urls["manifest"], "no manifest"))
    record_url = only(urls["record"], "no Subscriber record")
    listed = only([file for file in manifest["files"] if file["url"] == record_url], "the manifest does not list the record")
    records = fetch(record_url, listed["digest"])["records"]
    pointers = [pointer["url"] for record in records for pointer in record["meta"]["catalog_index_urls"]]
    indexes = [fetch(url) for url in urls["index"] if url in pointers]
    entries = [verified(entry) for index in indexes for entry in index["catalogs"] if entry["catalogId"] == catalog_id]
    entry = only(sorted(entries, key=lambda entry: -entry["entryVersion"]), "no index that the record lists has the catalog")
    baseline = fetch(entry["baseline"]["url"], entry["baseline"]["digest"])
    version, lists = baseline["version"], {name: {item["id"]: item for item in baseline["catalog"].get(name, [])} for name in ("resources", "offers")}
    for change in sorted(entry["changes"], key=lambda change: change["fromVersion"]):
        if change["fromVersion"] < version:
            continue
        content = fetch(change["url"], change["digest"])
        if content["fromVersion"] != version:
            raise ProtocolError("AUT_SIGNATURE_INVALID", f"there is no change from version {version}")
        for name, items in lists.items():
            for removed in content[name]["removals"]:
                items.pop(removed, None)
            items.update({item["id"]: item for item in content[name]["upserts"]})
        version = content["toVersion"]
    resource = only([lists["resources"][resource_id]] if resource_id in lists["resources"] else [], "the files do not have the resource")
    offers = [offer for offer in lists["offers"].values() if resource_id in offer.get("resourceIds", [resource_id])]
    return {"node": node, "catalogId": catalog_id, "version": version, "resource": resource, "offers": offers}


# A participant: sends requests, receives callbacks


class Answer(typing.NamedTuple):
    """`signer` is the subscriberId of the service that signed it; None where it did not, or wrongly."""

    status: int
    message_id: str
    signer: str | None


class Participant:
    """Sends signed requests as `key`, and listens at `url` for the callbacks. Use it in a `with` block."""

    def __init__(self, key: Key, registry: Registry, url: str, *, host: str = "127.0.0.1", port: int | None = None):
        self.key, self.registry, self.url = key, registry, url.rstrip("/")
        self._sent: dict[str, tuple[list[str], str]] = {}  # messageId: Authorization values, digest of the body
        self._callbacks: dict[str, queue.Queue] = {}
        participant = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                status, answer = participant._receive(self.headers.get("authorization"), self.rfile.read(int(self.headers["content-length"])))
                raw = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_):
                pass

        port = urllib.parse.urlsplit(url).port if port is None else port
        self._server = http.server.ThreadingHTTPServer((host, port or 0), Handler)

    def __enter__(self) -> "Participant":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self._server.shutdown()
        self._server.server_close()

    def publish(self, service: str, catalogs: list, directives: list | None = None, *, timeout: float = 60) -> list[dict]:
        """Returns the results of on_publish: catalogId, status (ACCEPTED, PARTIAL, REJECTED), stats, errors."""
        message = {"catalogs": catalogs} | ({"publishDirectives": directives} if directives else {})
        answer = self.send(service, "catalog/publish", message, {"bppId": self.key.subscriber_id, "bppUri": self.url})
        return self.wait(answer, timeout)["message"]["results"]

    def discover(self, service: str, intent: dict, *, timeout: float = 60, **context: typing.Any) -> list[dict]:
        """Returns the catalogs of on_discover; none where nothing matches."""
        context = {"bapId": self.key.subscriber_id, "bapUri": self.url} | context
        answer = self.send(service, "discover", {"intent": intent}, context)
        # 202: nothing found, and no callback comes.
        return [] if answer.status == 202 else self.wait(answer, timeout)["message"]["catalogs"]

    def send(self, service: str, action: str, message: dict, context: dict) -> Answer:
        """Raises ProtocolError for a NACK."""
        message_id, now = str(uuid.uuid4()), datetime.datetime.now(datetime.timezone.utc)
        times = {"timestamp": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"), "ttl": "PT30S"}
        ids = {"messageId": message_id, "transactionId": str(uuid.uuid4())}
        body = json.dumps({"context": {"version": "2.0.0", "action": action} | ids | times | context, "message": message}).encode()
        authorization = sign_request(self.key, body)
        # Before it is sent: the callback may be here before the answer.
        self._sent[message_id] = ([authorization], body_digest(body))
        self._callbacks[message_id] = queue.Queue()
        headers = {"authorization": authorization, "content-type": "application/json"}
        request = urllib.request.Request(f"{service.rstrip('/')}/{action}", data=body, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                status, received, signature = response.status, response.read(), response.headers.get("signature")
        except urllib.error.HTTPError as error:
            status, received, signature = error.code, error.read(), error.headers.get("signature")
        if status >= 400:
            try:
                problem = parse_json(received)["message"]["error"]
            except (ProtocolError, KeyError, TypeError):
                problem = {"code": f"HTTP {status}", "message": "refused, but not in the form of the protocol"}
            raise ProtocolError(problem["code"], problem["message"], problem.get("details", {}).get("path"))
        return Answer(status, message_id, self._signer_of(signature, received, authorization))

    def wait(self, answer: Answer, timeout: float) -> dict:
        """The callback to a request, from the service that acknowledged it."""
        deadline = time.monotonic() + timeout
        try:
            while True:
                signer, callback = self._callbacks[answer.message_id].get(timeout=max(0, deadline - time.monotonic()))
                if answer.signer in (None, signer):
                    return callback
        except queue.Empty:
            raise TimeoutError(f"no callback within {timeout} seconds at {self.url}") from None

    def _signer_of(self, signature: str | None, received: bytes, authorization: str) -> str | None:
        try:
            header = verify_request(signature, received, self.registry.find_key, answers=[authorization])
            return header.subscriber_id if header.chained else None
        except ProtocolError:
            return None

    def _receive(self, authorization: str | None, body: bytes) -> tuple[int, dict]:
        """Checks a callback: signed by a registered key, over the signature and the digest of a request that was sent."""
        try:
            callback = parse_json(body)
            message_id = callback["context"]["messageId"]
            sent, digest = self._sent.get(message_id, ([], None))
            header = verify_request(authorization, body, self.registry.find_key, answers=sent)
            if callback["context"]["requestDigest"]["digest"].replace("BLAKE2b-512", "BLAKE-512") != digest:
                raise ProtocolError("CTX_INVALID_FIELD", "this does not answer any of our requests", "$.context.requestDigest.digest")
            self._callbacks[message_id].put((header.subscriber_id, callback))
            return 200, {"message": {"status": "ACK", "messageId": message_id}}
        except (KeyError, TypeError, AttributeError):
            status, code, text = 400, "CTX_MISSING_FIELD", "context.messageId or context.requestDigest.digest is missing"
        except OSError as error:
            status, code, text = 503, "NET_DOWNSTREAM_UNAVAILABLE", f"the registry cannot be queried: {error}"
        except ProtocolError as error:
            status, code, text = 401 if error.code.startswith("AUT_") else 400, error.code, str(error)
        return status, {"message": {"status": "NACK", "error": {"code": code, "message": text}}}


# The command line


def main() -> int:
    parser = argparse.ArgumentParser(description="Publish catalogs and discover resources in a Beckn 2.0 network.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("keygen", help="make a key: a seed to keep secret, and the public key to register")
    publish = commands.add_parser("publish", help="publish the catalogs of a file, and wait for the results")
    publish.add_argument("file", type=pathlib.Path, help="JSON with message.catalogs and message.publishDirectives")
    discover = commands.add_parser("discover", help="find resources by text")
    discover.add_argument("text")
    prove = commands.add_parser("prove", help="check the proof of a hit against the files that its provider has signed, and print what they say")
    prove.add_argument("file", type=pathlib.Path, help="JSON: the proof, or an answer that has it as its member proof")
    prove.add_argument("--registry", default="http://127.0.0.1:4001/dedi", help="default: %(default)s")
    for command, service in ((publish, "http://127.0.0.1:4002"), (discover, "http://127.0.0.1:4003")):
        command.add_argument("--as", dest="subscriber", required=True, metavar="ID", help="subscriberId in the registry")
        command.add_argument("--key-id", default="key-1", help="recordId of the key (default: key-1)")
        command.add_argument("--seed", type=pathlib.Path, required=True, metavar="FILE", help="file with the seed")
        command.add_argument("--registry", default="http://127.0.0.1:4001/dedi", help="default: %(default)s")
        command.add_argument("--to", default=service, metavar="URL", help="the service (default: %(default)s)")
        command.add_argument("--callbacks", default="http://127.0.0.1:4090", metavar="URL", help="where it finds us (default: %(default)s)")
    options = parser.parse_args()
    if options.command == "keygen":
        seed = base64.b64encode(secrets.token_bytes(32)).decode()
        public_key = Key.from_seed("", "", seed).private_key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        print(json.dumps({"seed": seed, "publicKey": _encode_base64(public_key)}))
        return 0
    if options.command == "prove":
        answer = json.loads(options.file.read_text())
        print(json.dumps(check_proof(answer.get("proof", answer), Registry(options.registry)), indent=2))
        return 0
    key = Key.from_seed(options.subscriber, options.key_id, options.seed.read_text().strip())
    with Participant(key, Registry(options.registry), options.callbacks) as participant:
        if options.command == "discover":
            catalogs = participant.discover(options.to, {"textSearch": options.text})
            for catalog in catalogs:
                for resource in catalog["resources"]:
                    print(f"{catalog['provider']['descriptor']['name']}: {resource.get('descriptor', {}).get('name', resource['id'])}")
            return 0 if catalogs else 1
        message = json.loads(options.file.read_text())["message"]
        results = participant.publish(options.to, message["catalogs"], message.get("publishDirectives"))
        print(json.dumps(results, indent=2))
        return 0 if all(result["status"] == "ACCEPTED" for result in results) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ProtocolError, TimeoutError, urllib.error.URLError) as error:
        sys.exit(str(error))

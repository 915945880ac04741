"""Holds signpost.py against ../../vectors: python3 -m unittest, in this directory."""

import base64
import json
import pathlib
import unittest

import signpost
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

VECTORS = pathlib.Path(__file__).parent.parent.parent / "vectors"


def read(name):
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


KEYS = read("keys.json")["keys"]
REQUESTS = read("requests.json")


def key_of(name):
    key = next(key for key in KEYS if key["name"] == name)
    return signpost.Key.from_seed(key["subscriberId"], key["recordId"], key["seed"])


def find_key(subscriber_id, record_id):
    """The registry that the vectors describe."""
    for vector in REQUESTS["accept"]:
        if "publicKey" in vector and (vector["subscriberId"], vector["recordId"]) == (subscriber_id, record_id):
            return signpost.parse_public_key(vector["publicKey"])
    known = [key for key in KEYS if key["subscriberId"] == subscriber_id]
    found = [key for key in known if key["recordId"] == record_id]
    if not found:
        raise signpost.ProtocolError("AUT_KEY_NOT_FOUND" if known else "AUT_SUBSCRIBER_NOT_FOUND", "not registered")
    if found[0]["state"] != "live":
        raise signpost.ProtocolError("AUT_KEY_EXPIRED_OR_REVOKED", found[0]["state"])
    return signpost.parse_public_key(found[0]["publicKey"])


class Vectors(unittest.TestCase):
    def refused(self, vector, check):
        with self.assertRaises(signpost.ProtocolError) as caught:
            check()
        self.assertEqual(caught.exception.code, vector["code"])

    def test_keys(self):
        for key in KEYS:
            with self.subTest(key["name"]):
                forms = [key["publicKey"], key["spki"], key["pem"], key["jwk"]["x"]]
                raw = {signpost.parse_public_key(form).public_bytes(Encoding.Raw, PublicFormat.Raw) for form in forms}
                self.assertEqual(raw, {base64.b64decode(key["publicKey"])})
        for vector in read("keys.json")["refuse"]:
            with self.subTest(vector["name"]):
                self.refused(vector, lambda: signpost.parse_public_key(vector["publicKey"]))

    def test_digests(self):
        for vector in read("digests.json")["cases"]:
            with self.subTest(vector["name"]):
                self.assertEqual(signpost.body_digest(vector["text"].encode()), vector["body"])

    def test_canonical_json(self):
        vectors = read("canonical-json.json")
        for vector in vectors["cases"]:
            with self.subTest(vector["name"]):
                value = signpost.parse_json(vector["input"].encode())
                self.assertEqual(signpost.canonical_json(value), vector["jcs"])
                self.assertEqual(signpost.canonical_json(value, go=True), vector["go"])
        for vector in vectors["refuse"]:
            with self.subTest(vector["name"]):
                self.refused(vector, lambda: signpost.parse_json(vector["input"].encode()))

    def test_requests_signed(self):
        for vector in REQUESTS["sign"]:
            with self.subTest(vector["name"]):
                body, lifetime = vector["body"].encode(), vector["expires"] - vector["created"]
                signed = signpost.sign_request(key_of(vector["key"]), body, created=vector["created"], lifetime=lifetime)
                self.assertEqual(signed, vector["authorization"])

    def verify(self, vector):
        """A receiver: what has no body is signed for ten minutes at most."""
        limits = REQUESTS["limits"]
        has_body = vector["method"] == "POST"
        if vector["body"] and not has_body:
            raise signpost.ProtocolError("AUT_SIGNATURE_INVALID", "a GET or DELETE has no body")
        seconds = limits["maxSignatureSeconds" if has_body else "maxSignatureSecondsWithoutBody"]
        at = vector.get("at", vector.get("created"))
        return signpost.verify_request(vector.get("authorization"), vector["body"].encode(), find_key, now=at, max_seconds=seconds)

    def test_requests_accepted(self):
        for vector in REQUESTS["sign"]:
            with self.subTest(vector["name"]):
                self.assertEqual(self.verify(vector).signature, vector["signature"])
        for vector in REQUESTS["accept"]:
            with self.subTest(vector["name"]):
                header = self.verify(vector)
                self.assertEqual((header.subscriber_id, header.record_id), (vector["subscriberId"], vector["recordId"]))

    def test_requests_refused(self):
        for vector in REQUESTS["refuse"]:
            with self.subTest(vector["name"]):
                self.refused(vector, lambda: self.verify(vector))

    def test_callbacks(self):
        vectors = read("callbacks.json")
        for vector in vectors["sign"]:
            with self.subTest(vector["name"]):
                key, body = key_of(vector["key"]), vector["body"].encode()
                signed = signpost.sign_request(key, body, created=vector["created"], answering=vector.get("requestSignature"))
                self.assertEqual(signed, vector["authorization"])
        verify = lambda vector: signpost.verify_request(  # noqa: E731
            vector["authorization"], vector["body"].encode(), find_key, now=vector["at"], answers=vector["sent"]
        )
        for vector in vectors["accept"]:
            with self.subTest(vector["name"]):
                self.assertEqual(verify(vector).chained, vector["chained"])
        for vector in vectors["refuse"]:
            with self.subTest(vector["name"]):
                if vector["code"].startswith("AUT_"):
                    self.refused(vector, lambda: verify(vector))
                else:
                    named = json.loads(vector["body"])["context"]["requestDigest"]["digest"]
                    self.assertNotEqual(named, signpost.body_digest(vectors["request"]["body"].encode()))

    def test_answers(self):
        vectors = read("answers.json")
        for vector in vectors["sign"]:
            with self.subTest(vector["name"]):
                key, body = key_of(vector["key"]), vector["body"].encode()
                signed = signpost.sign_request(key, body, created=vector["created"], answering=vector["requestSignature"])
                self.assertEqual(signed, vector["signature"])
        for vector in vectors["refuse"]:
            with self.subTest(vector["name"]):
                try:
                    now = vectors["sign"][0]["created"]
                    header = signpost.verify_request(
                        vector["signature"], vector["body"].encode(), find_key, now=now, answers=[vector["request"]]
                    )
                except signpost.ProtocolError:
                    continue
                self.assertFalse(header.chained)

    def test_signed_files(self):
        vectors = read("signed-files.json")
        for vector in vectors["sign"]:
            with self.subTest(vector["name"]):
                self.assertEqual(signpost.canonical_json(vector["unsigned"]), vector["canonical"])
                signed = signpost.sign_document(vector["unsigned"], key_of(vector["key"]), proof="proof" in vector)
                member = "proof" if "proof" in vector else "signature"
                self.assertEqual(signed[member], vector[member])
        for vector in vectors["accept"]:
            with self.subTest(vector["name"]):
                self.assertTrue(signpost.verify_document(vector["document"], find_node_key))
        codes = {"signature-invalid": "AUT_SIGNATURE_INVALID", "signature-missing": "AUT_SIGNATURE_MISSING"}
        for vector in vectors["refuse"]:
            with self.subTest(vector["name"]):
                expected = vector | {"code": codes.get(vector["code"], "AUT_KEY_NOT_FOUND")}
                self.refused(expected, lambda: signpost.verify_document(vector["document"], find_node_key))


def find_node_key(key_id):
    """Of the node whose files these are; some publishers name a key as requests do."""
    node = "files.example.com"
    subscriber_id, record_id, *_ = key_id.split("|") if "|" in key_id else (node, key_id)
    if subscriber_id != node:
        raise signpost.ProtocolError("AUT_KEY_NOT_FOUND", "the key of another node")
    return find_key(node, record_id)


if __name__ == "__main__":
    unittest.main()

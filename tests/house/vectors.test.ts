import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { awaitCallback } from '../../src/delivery/await-callback.ts';
import { type Callback, receiveCallback } from '../../src/delivery/receive-callback.ts';
import { findAnswerSigner } from '../../src/delivery/send.ts';
import { type Authenticator, findSigner, parseClaim, verifySigner } from '../../src/http/authenticate.ts';
import { silentLogger } from '../../src/logger.ts';
import { type Action, actions } from '../../src/protocol/actions.ts';
import { bodyDigest } from '../../src/protocol/digest.ts';
import { parsePublicKey } from '../../src/protocol/keys.ts';
import type { KeyLookup, ParticipantRecord } from '../../src/protocol/registry-record.ts';
import { chainValues } from '../../src/protocol/request-signature.ts';
import { openDocument } from '../../src/rules/self-hosted/open-document.ts';
import { verifySigner as verifyDocumentSigner } from '../../src/rules/self-hosted/signer.ts';
import { trustBaseline, trustChange } from '../../src/rules/self-hosted/trust-files.ts';
import { trustEntries, trustIndex } from '../../src/rules/self-hosted/trust-index.ts';
import { trustManifest, trustSubscriberRecord } from '../../src/rules/self-hosted/trust-node.ts';
import { bundledChecker, registryName } from '../support/hosted/published-tree.ts';
import { answerVectors } from '../vectors/answers.ts';
import { callbackVectors } from '../vectors/callbacks.ts';
import { canonicalJsonVectors } from '../vectors/canonical-json.ts';
import { digestVectors } from '../vectors/digests.ts';
import { keyVectors } from '../vectors/keys.ts';
import { requestVectors } from '../vectors/requests.ts';
import { signedFileVectors } from '../vectors/signed-files.ts';

// vectors/ is for authors of other implementations. Here it is generated again and compared, and checked against our receiver, including its key
// lookup. `npx vitest run tests/house/vectors.test.ts -u` writes the files.

const made = {
  'keys.json': keyVectors,
  'digests.json': digestVectors,
  'canonical-json.json': canonicalJsonVectors,
  'requests.json': requestVectors,
  'answers.json': answerVectors,
  'callbacks.json': callbackVectors,
  'signed-files.json': signedFileVectors,
};

describe('the vectors', () => {
  it.each(Object.entries(made))('%s has what our code makes', async (name, make) => {
    const text = `${JSON.stringify(await make(), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot(`../../vectors/${name}`);
  });
});

const { keys } = keyVectors();

/** The registry: the keys of keys.json, and the signer of the example that others published. */
async function findKey(subscriberId: string, recordId: string): Promise<KeyLookup> {
  if (subscriberId === example?.subscriberId) return usable(example.publicKey ?? '', recordId, subscriberId);
  const known = keys.filter((key) => key.subscriberId === subscriberId);
  const key = known.find((one) => one.recordId === recordId);
  if (known.length === 0) return { kind: 'unknown-subscriber' };
  if (!key) return { kind: 'unknown-key' };
  if (key.state !== 'live') return { kind: 'unusable', reason: `it is ${key.state}` };
  return usable(key.publicKey, recordId, subscriberId);
}

function usable(publicKey: string, recordId: string, subscriberId: string): KeyLookup {
  const record = { recordId, subscriberId, state: 'live' } as ParticipantRecord;
  return { kind: 'key', publicKey: parsePublicKey(publicKey), record };
}

const { limits, ...requests } = requestVectors();
const example = requests.accept.find(({ publicKey }) => publicKey !== undefined);

interface Verification {
  authorization?: string;
  body: string;
  at: number;
  sent?: readonly string[];
}

async function verify(action: Action, { authorization, body, at, sent = [] }: Verification) {
  const headers = {
    ...(authorization !== undefined && { authorization }),
    ...(body !== '' && { 'content-length': `${Buffer.byteLength(body)}` }),
  };
  const request = { headers, rawHeaders: Object.entries(headers).flat() } as unknown as IncomingMessage;
  const authenticator: Authenticator = {
    findKey,
    registryName,
    limits,
    findSentRequest: async () => sent.flatMap(chainValues),
  };
  const header = parseClaim(authenticator, action, request, new Date(at * 1000));
  const signer = await findSigner(authenticator, header, 'source');
  return verifySigner(authenticator, action, signer, { body: Buffer.from(body) });
}

function actionOf({ action, method }: { action: string; method: string }): Action {
  const found = Object.values<Action>(actions).find((one) => one.name === action && one.method === method);
  if (!found) throw new Error(`there is no ${method} ${action}`);
  return found;
}

describe('a request of vectors/requests.json', () => {
  it.each(requests.sign)('is accepted: $name', async (request) => {
    const { header, digest } = await verify(actionOf(request), { ...request, at: request.created });
    expect([header.signature, digest]).toEqual([request.signature, request.digest]);
  });

  it.each(requests.accept)('is accepted: $name', async (request) => {
    const { header } = await verify(actionOf(request), request);
    expect(header).toMatchObject({ subscriberId: request.subscriberId, recordId: request.recordId });
  });

  it.each(requests.refuse)('is refused with $code: $name', async (request) => {
    await expect(verify(actionOf(request), request)).rejects.toMatchObject({ code: request.code });
  });

  it('is wrong in its own way: no two wrong ones are the same', () => {
    const texts = requests.refuse.map(({ authorization, body, at }) =>
      JSON.stringify([authorization, body, at]),
    );
    expect(new Set(texts).size).toBe(texts.length);
  });
});

describe('a callback of vectors/callbacks.json', () => {
  const { request, sign, accept, refuse } = callbackVectors();

  async function receive(callback: Verification) {
    const caller = await verify(actions.onPublish, callback);
    const { context, message } = JSON.parse(callback.body);
    const received = { ...caller, recordId: caller.header.recordId, chained: caller.header.chained };
    const { messageId } = JSON.parse(request.body).context;
    const digest = bodyDigest(Buffer.from(request.body));
    const service = { url: 'https://catalog.example.org', identity: caller.identity };
    const awaited =
      context.messageId === messageId ? awaitCallback<Callback>({ digest, service }) : undefined;
    return receiveCallback({ ...received, context, message }, awaited);
  }

  it.each(sign)('is accepted: $name', async (callback) => {
    const answered = { ...callback, sent: [request.authorization], at: callback.created };
    expect((await receive(answered)).bound).toBe(true);
  });

  it.each(accept)('is accepted: $name', async (callback) => {
    const { recordId, chained } = await receive(callback);
    expect({ recordId, chained }).toEqual({ recordId: callback.recordId, chained: callback.chained });
  });

  it.each(refuse)('is refused with $code: $name', async (callback) => {
    await expect(receive(callback)).rejects.toMatchObject({ code: callback.code });
  });
});

describe('an answer of vectors/answers.json', () => {
  const { sign, refuse } = answerVectors();
  const findSignerOf = ({
    request,
    signature,
    body,
  }: {
    request: string;
    signature: string;
    body: string;
  }) => {
    const sender = { findKey, logger: silentLogger() } as unknown as Parameters<typeof findAnswerSigner>[0];
    return findAnswerSigner(sender, 'https://catalog.example.org', request, {
      headers: { signature },
      body: Buffer.from(body),
    });
  };

  it.each(sign)('is accepted: $name', async (answer) => {
    expect(await findSignerOf(answer)).toBe('catalog.example.org');
  });

  it.each(refuse)('is not trusted: $name', async (answer) => {
    expect(await findSignerOf(answer)).toBeUndefined();
  });
});

describe('the files of vectors/signed-files.json', async () => {
  const { node, sign, accept, refuse } = await signedFileVectors();
  const hosting = { identity: node.identity, recordSubscriberId: node.id, registryName };
  const known = new Map([['key-1', await findKey(node.id, 'key-1')]]);
  const options = { node: hosting, keys: known, limits: { maxEntries: 9, maxChanges: 9, maxMasters: 9 } };

  function open(kind: 'manifest' | 'record' | 'index' | 'baseline' | 'change') {
    const { url = '', bytes = '', digest } = sign.find((one) => one.kind === kind) ?? {};
    return openDocument(kind, { url, wire: Buffer.from(bytes) }, { maxInflatedBytes: 1e6, digest });
  }

  it('lead a crawler from the manifest to the content of a catalog', async () => {
    const manifest = trustManifest(open('manifest'), { ...options, host: node.id });
    const record = trustSubscriberRecord(open('record'), { ...options, manifest });
    expect(record.catalogIndexUrls).toEqual([open('index').url]);
    const index = trustIndex(open('index'), { ...options, allowUnsigned: false });
    const { entries, faults } = trustEntries(index, options);
    expect([entries.map(({ entry }) => entry.catalogId), faults]).toEqual([
      ['coffee-house', 'closed-shop'],
      [],
    ]);
    const [entry] = entries;
    const [change] = entry?.entry.changes ?? [];
    if (!entry || !change) throw new Error('there is no entry with a change');
    const reader = { ...options, entry, checker: await bundledChecker() };
    expect(trustBaseline(open('baseline'), reader).file.version).toBe(1);
    expect(trustChange(open('change'), change, reader).file.toVersion).toBe(2);
  });

  it.each(accept)('may be signed otherwise: $name', ({ document }) => {
    expect(verifyDocumentSigner('entry', document, hosting, known)).toBe('key-1');
  });

  it.each(refuse)('are refused with $code: $name', ({ document, code }) => {
    expect(() => verifyDocumentSigner('entry', document, hosting, known)).toThrow(
      expect.objectContaining({ code }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { splitIdentity } from '../../src/protocol/identity.ts';
import { publicKeyOf } from '../../src/protocol/keys.ts';
import { addKey, removeMembership, setKeyState } from '../../src/storage/registry/participants.ts';
import { catalogOf, openScene, type Scene, teas, useScenes } from '../support/hosted/crawl-scene.ts';
import { type Forgery, type ForgeryOptions, forge } from '../support/hosted/forged-node.ts';
import { describeFaults, type Fault } from '../support/hosted/planted-faults.ts';
import { newSigningKey } from '../support/hosted/published-tree.ts';
import { answers, only, replaced } from '../support/hosted/tampering.ts';
import type { Body } from '../support/network/actor.ts';
import { defaultNetwork } from '../support/network/network.ts';

// Faults of the first links of the chain (self-hosted spec: Discovery crawl order, 2 to 4): manifest, Subscriber record, index, and the keys that
// signed them. If one is invalid, nothing that depends on it is read, and the served catalogs stay.

let scene: Scene;
const network = useScenes((opened) => {
  scene = opened;
});

const unregistered = newSigningKey('key-9');
const missing = answers(404);

/** Documents are changed and signed again, as by a node that is wrong about itself. */
const forged =
  (forgery: Forgery, options?: ForgeryOptions): Fault['spoil'] =>
  (provider) =>
    forge(provider, forgery, options);

describeFaults(
  'a manifest or Subscriber record',
  network,
  [
    {
      code: 'manifest-missing',
      what: 'there is no manifest',
      spoil: () => only('manifest', missing),
    },
    {
      ...{ code: 'not-json', document: 'manifest', what: 'the manifest is a page' },
      spoil: () => only('manifest', answers(200, '<html>Not here</html>')),
    },
    {
      ...{ code: 'signature-invalid', document: 'manifest', what: 'the manifest was changed' },
      spoil: () => only('manifest', replaced('2', '3')),
    },
    {
      ...{ code: 'key-unknown', document: 'manifest', what: 'the registry does not know its key' },
      spoil: forged({}, { signed: { manifest: unregistered } }),
    },
    {
      ...{ code: 'domain-mismatch', document: 'manifest', what: 'the manifest is that of another domain' },
      spoil: forged({
        manifest: (document) => {
          document.domain = 'another.example.org';
        },
      }),
    },
    {
      code: 'file-missing',
      what: 'the record is not there',
      spoil: () => only('record', missing),
    },
    {
      ...{
        code: 'digest-mismatch',
        document: 'record',
        what: 'the record has not the digest of the manifest',
      },
      spoil: () => only('record', replaced('BPP', 'BAP')),
    },
    {
      ...{ code: 'signature-invalid', document: 'record', what: 'the signature of the record fails' },
      spoil: forged(
        {
          record: (document) => {
            document.next_update = '2030-01-01T00:00:00Z';
          },
        },
        { signed: { record: 'as it was' } },
      ),
    },
    {
      ...{ code: 'record-missing', document: 'record', what: 'the record is that of another node' },
      spoil: forged({
        record: ({ records: [record] }) => {
          record.details.subscriber_id = 'another.example.org';
        },
      }),
    },
    {
      ...{ code: 'record-inactive', document: 'record', what: 'the registry of the record is inactive' },
      spoil: forged({
        record: ({ registry }) => {
          registry.state = 'inactive';
        },
      }),
    },
    {
      code: 'no-index-urls',
      what: 'the record has no meta.catalog_index_urls',
      spoil: forged({
        record: ({ records: [record] }) => {
          delete record.meta.catalog_index_urls;
        },
      }),
    },
  ],
  // The crawler still uses the indexes of the node's last good record.
  { follows: true },
);

describeFaults('an index', network, [
  { code: 'file-missing', what: 'is not there', spoil: () => only('index', missing) },
  {
    ...{ code: 'signature-invalid', document: 'index', what: 'was changed' },
    spoil: () => only('index', replaced('true', 'false')),
  },
  {
    ...{ code: 'signature-missing', document: 'index', what: 'is not signed' },
    spoil: forged(
      {
        index: (document) => {
          delete document.signature;
        },
      },
      { signed: { index: 'as it was' } },
    ),
  },
  {
    ...{ code: 'node-mismatch', document: 'index', what: 'is that of another node' },
    spoil: forged({
      index: (document) => {
        document.nodeId = 'another.example.org';
      },
    }),
  },
  {
    ...{
      code: 'key-unknown',
      document: 'index',
      what: 'is signed with a key that the registry does not know',
    },
    spoil: forged({}, { signed: { index: unregistered } }),
  },
  {
    ...{ code: 'malformed', document: 'index', what: 'has no list of entries' },
    spoil: forged({
      index: (document) => {
        document.catalogs = 'none';
      },
    }),
  },
]);

describe('a Subscriber record', () => {
  it('bad-url: that lists what is no address of an index is told, and the catalogs stay', async () => {
    const { provider } = scene;
    await scene.publish(0, 10);
    const record = ({ records: [{ meta }] }: Body) => {
      for (const pointer of meta.catalog_index_urls) pointer.url = pointer.url.replace('//', '//me:secret@');
    };
    provider.spoil(forge(provider, { record }));
    await scene.look();
    await scene.expectTold('bad-url');
    await scene.publish(1, 11);
    expect(await scene.served()).toEqual(teas(0, 10));

    provider.spoil();
    await scene.look();
    expect(await scene.served()).toEqual(teas(1, 11));
  });
});

describe('a document past its next_update', () => {
  const past = (document: Body) => {
    document.next_update = '2020-01-01T00:00:00Z';
  };

  it.each(['manifest', 'record', 'index'] as const)('stale: %s, is still used', async (kind) => {
    const { provider } = scene;
    provider.spoil(forge(provider, { [kind]: past }));
    await scene.publish(0, 10);
    expect(await scene.served()).toEqual(teas(0, 10));
    await scene.expectTold('stale');

    await scene.publish(1, 11);
    expect(await scene.served()).toEqual(teas(1, 11));
  });
});

describe('keys', () => {
  it.each(['index', 'entry', 'change'] as const)(
    'key-unusable: %s signed with a revoked key is discarded, and what is served stays',
    async (kind) => {
      const { provider } = scene;
      await scene.publish(0, 10);
      const revoked = newSigningKey('key-2');
      await addKey(network().database, who(), {
        ...{ recordId: 'key-2', publicKey: publicKeyOf(revoked.privateKey), ttlSeconds: 0 },
      });
      await setKeyState(network().database, who(), 'revoked', 'key-2');
      provider.spoil(forge(provider, {}, { signed: { [kind]: revoked } }));
      await scene.publish(1, 11);
      expect(await scene.served()).toEqual(teas(0, 10));
      await scene.expectTold('key-unusable', { document: kind });

      provider.spoil();
      await scene.look();
      expect(await scene.served()).toEqual(teas(1, 11));
    },
  );

  it.each(['index', 'entry', 'change'] as const)(
    'key-foreign: %s signed with the key of another node is discarded, although that key is registered',
    async (kind) => {
      const other = await openScene(network());
      const { provider } = scene;
      try {
        await scene.publish(0, 10);
        const { privateKey } = other.provider.tree.key;
        const recordId = `${other.provider.identity}|key-1|ed25519`;
        const foreign = { subscriberId: other.provider.identity, recordId, privateKey };
        provider.spoil(forge(provider, {}, { signed: { [kind]: foreign } }));
        await scene.publish(1, 11);
        expect(await scene.served()).toEqual(teas(0, 10));
        await scene.expectTold('key-foreign', { document: kind });
      } finally {
        await other.end();
      }
    },
  );
});

describe('what a node does not say any more', () => {
  it('index-unlisted: the catalogs of an index that its record has dropped are kept', async () => {
    const { provider } = scene;
    await provider.publish({ message: { catalogs: [catalogOf('elsewhere', 0, 3)] } }, 'second');
    await scene.publish(0, 10);
    expect(await scene.served('elsewhere')).toEqual(teas(0, 3));
    const record = ({ records }: Body) => {
      const { meta } = records[0];
      meta.catalog_index_urls = meta.catalog_index_urls.filter(({ url }: Body) => !url.includes('second'));
    };
    provider.spoil(forge(provider, { record }));
    await scene.publish(1, 11);
    await scene.expectTold('index-unlisted', { url: `${provider.url}/index/second.index.json` });
    expect(await scene.served('elsewhere')).toEqual(teas(0, 3));
    expect(await scene.served()).toEqual(teas(1, 11));
  });

  it('node-vanished: the catalogs of a node that the network does not name any more are kept', async () => {
    await scene.publish(0, 10);
    await removeMembership(network().database, who(), defaultNetwork);
    await scene.publish(1, 11);
    await scene.expectTold('node-vanished');
    expect(await scene.served()).toEqual(teas(1, 11));
  });
});

function who() {
  return splitIdentity(scene.provider.identity);
}

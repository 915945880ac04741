import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { splitIdentity } from '../../src/protocol/identity.ts';
import { resignEverything } from '../../src/publisher/renew-indexes.ts';
import { setKeyState } from '../../src/storage/registry/participants.ts';
import { crawl, logged } from '../support/hosted/crawl.ts';
import { held } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type HostedAnswer, type Provider, startProvider } from '../support/network/provider.ts';

// The served state after rare or improper changes of a node's files. A proxy between the real publisher and the crawler replays, hides and spoils files.

let network: TestNetwork;
let provider: Provider;
let number = 0;

beforeAll(async () => {
  network = await startNetwork({ settings: { DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]) } });
});
afterAll(() => network?.close());

beforeEach(async () => {
  number += 1;
  provider = await startProvider(network, `provider-${number}`);
});
afterEach(async () => {
  await network.database.query('update discovery.crawl_node set named = false, due_at = null');
  await network.database.query('update discovery.crawl_index set due_at = null, listed = false');
  await provider.stop();
});

const many = Array.from({ length: 20 }, (_, index) => ({
  id: `r${index}`,
  descriptor: { name: `Tea ${index}` },
}));

/** With the resources from `from` up to, but not including, `to`. */
function catalog(from: number, to: number) {
  return {
    id: `catalog-${number}`,
    descriptor: { name: 'Catalog' },
    provider: { id: 'p', descriptor: { name: 'Provider' } },
    resources: many.slice(from, to),
  };
}

function publish(from: number, to: number, changes: object = {}) {
  return provider.publish({ message: { catalogs: [{ ...catalog(from, to), ...changes }] } });
}

const copy = () => held(network.database, `catalog-${number}`);
const ids = async () => (await copy())?.resources.map(({ id }: { id: string }) => id);
const slice = (from: number, to: number) => many.slice(from, to).map(({ id }) => id);
const codes = () => logged(network.database, provider.identity);
const look = () => crawl(network.database);

const indexPath = '/index/catalogs.index.json';

/** The current answer, to serve it again later. */
async function snapshot(path: string): Promise<HostedAnswer> {
  const answer = await fetch(provider.url + path);
  const headers = { etag: answer.headers.get('etag') ?? '' };
  return { status: 200, headers, body: Buffer.from(await answer.arrayBuffer()) };
}

function replay(old: HostedAnswer): void {
  provider.spoil((path) => (path === indexPath ? old : undefined));
}

describe('the replay of an old index', () => {
  it('is flagged as a rollback, and what is served stays', async () => {
    await publish(0, 10);
    await look();
    const old = await snapshot(indexPath);
    await publish(1, 11);
    await look();
    replay(old);
    await look();
    expect(await codes()).toContain('rollback');
    expect(await ids()).toEqual(slice(1, 11));
    provider.spoil();
    await publish(2, 11);
    await look();
    expect(await ids()).toEqual(slice(2, 11));
  });
});

describe('a catalog that is in no index any more', () => {
  it('absent: is unconfirmed and still served, and confirmed when it returns', async () => {
    await publish(0, 10, { id: `other-${number}` });
    const old = await snapshot(indexPath);
    await publish(0, 10);
    await look();
    replay(old);
    await look();
    expect(await codes()).toContain('absent');
    expect(await copy()).toMatchObject({ served: true });
    expect(await unconfirmed()).toEqual([`catalog-${number}`]);
    provider.spoil();
    await look();
    expect(await unconfirmed()).toEqual([]);
    expect(await ids()).toEqual(slice(0, 10));
  });

  async function unconfirmed() {
    const { rows } = await network.database.query<{ catalog_id: string }>(
      'select catalog_id from discovery.crawl_target where unconfirmed_since is not null and node = $1',
      [provider.identity],
    );
    return rows.map(({ catalog_id: id }) => id);
  }
});

describe('a retired catalog', () => {
  it('retired-returned: never returns, also when an entry comes without retiredAt', async () => {
    await publish(0, 10);
    await look();
    const old = await snapshot(indexPath);
    await provider.publish({ retire: [`catalog-${number}`] });
    await look();
    expect(await copy()).toMatchObject({ served: false });
    replay(old);
    await look();
    expect(await codes()).toContain('retired-returned');
    expect(await copy()).toMatchObject({ served: false });
  });
});

describe('a spoiled file', () => {
  it('digest-mismatch: is discarded; the catalog stays as it was, and follows when the file is whole again', async () => {
    await publish(0, 10);
    await look();
    provider.spoil((path, { body }) =>
      path.startsWith('/catalogs/')
        ? { body: Buffer.from(body.toString().replace('Tea 10', 'Tee 10')) }
        : undefined,
    );
    await publish(0, 11);
    await look();
    expect(await codes()).toContain('digest-mismatch');
    expect(await ids()).toEqual(slice(0, 10));
    provider.spoil();
    await look();
    expect(await ids()).toEqual(slice(0, 11));
  });

  it('file-missing: a change that is gone is healed by a later baseline', async () => {
    await publish(0, 18);
    await look();
    await publish(0, 19);
    await provider.publish({ forceBaseline: true, message: { catalogs: [catalog(0, 20)] } });
    provider.spoil((path) =>
      path.includes('/changes/') ? { status: 404, body: Buffer.alloc(0) } : undefined,
    );
    await look();
    expect(await ids()).toEqual(slice(0, 20));
  });
});

describe('a key', () => {
  it('that the manifest names otherwise than the registry is the same key', async () => {
    await provider.stop();
    provider = await startProvider(network, `alias-${number}`, { registeredKey: 'registered' });
    await publish(0, 10);
    await look();
    expect(await codes()).toEqual([]);
    expect(await ids()).toEqual(slice(0, 10));
    await setKeyState(network.database, splitIdentity(provider.identity), 'revoked', 'registered');
    await provider.rotate('key-2');
    await look();
    expect(await codes()).toContain('key-revoked');
    expect(await copy()).toMatchObject({ served: false });
  });

  it('that was rotated hides nothing, and what the new one signs is taken', async () => {
    await publish(0, 10);
    await look();
    await provider.rotate('key-2');
    await look();
    expect(await copy()).toMatchObject({ served: true });
    await publish(0, 11);
    await look();
    expect(await ids()).toEqual(slice(0, 11));
    expect(await copy()).toMatchObject({ served: true });
  });

  it('key-revoked: that was revoked hides what it signed, until that is signed anew', async () => {
    await publish(0, 10);
    await look();
    await provider.rotate('key-2');
    await setKeyState(network.database, splitIdentity(provider.identity), 'revoked', 'key-1');
    await look();
    expect(await codes()).toContain('key-revoked');
    expect(await copy()).toMatchObject({ served: false });
    await resignEverything(provider.tree);
    await look();
    expect(await copy()).toMatchObject({ served: true });
    expect(await ids()).toEqual(slice(0, 10));
  });
});

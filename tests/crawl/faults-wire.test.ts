import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type Scene, teas, useScenes } from '../support/hosted/crawl-scene.ts';
import { forge } from '../support/hosted/forged-node.ts';
import { describeFaults } from '../support/hosted/planted-faults.ts';
import {
  answers,
  broken,
  endlessRedirect,
  gzipBomb,
  only,
  slow,
  unchanged,
} from '../support/hosted/tampering.ts';
import type { Spoiler } from '../support/hosted/tampering-proxy.ts';

// Faults between a host and the crawler, for any file: too large, too slow, endless, of a wrong type. The crawler applies nothing, the served
// catalogs stay, and once the host works again the crawler catches up.

const kilobyte = 1024;
const fileLimit = 64 * kilobyte;
const inflatedLimit = 1024 * kilobyte;

let scene: Scene;
const network = useScenes(
  (opened) => {
    scene = opened;
  },
  {
    settings: {
      CRAWL_FETCH_TIMEOUT_MS: '2000',
      CRAWL_FILE_LIMIT: String(fileLimit),
      CRAWL_INDEX_LIMIT: String(fileLimit),
      CRAWL_INFLATED_LIMIT: String(inflatedLimit),
    },
  },
);

/** Faults of any request; faults behind a digest are not reached where a digest is declared. */
const faults: [code: string, what: string, spoiler: Spoiler][] = [
  ['too-large', 'has more bytes than are read', answers(200, ' '.repeat(fileLimit + 1))],
  ['inflates-too-large', 'is a gzip bomb', gzipBomb(inflatedLimit + 1)],
  [
    'inflates-too-large',
    'becomes a gzip bomb by its Content-Encoding',
    gzipBomb(inflatedLimit + 1, { 'content-encoding': 'gzip' }),
  ],
  ['not-gzip', 'is half of a gzip file', answers(200, gzipSync('{}').subarray(0, 12))],
  [
    'bad-encoding',
    'is in an encoding that nobody asked for',
    answers(200, 'x', { 'content-encoding': 'br' }),
  ],
  ['redirects', 'leads from one address to the next', endlessRedirect],
  ['timeout', 'never ends', slow],
  ['unreachable', 'breaks off', broken],
  ['http-status', 'is forbidden', answers(403)],
  ['http-status', 'says that its host is out of order', answers(503, 'later', { 'retry-after': '1' })],
  ['file-missing', 'says that the file is gone', answers(410)],
];
const faultsOfIndex: typeof faults = [
  ['not-json', 'is a page', answers(200, '<html>', { 'content-type': 'text/html' })],
  ['malformed', 'is not an object', answers(200, '[]')],
];

describeFaults(
  'the answer for an index',
  network,
  [...faults, ...faultsOfIndex].map(([code, what, spoiler]) => ({
    ...{ code, what, spoil: () => only('index', spoiler) },
  })),
);

describeFaults(
  'the answer for a baseline or change file',
  network,
  faults.map(([code, what, spoiler]) => ({
    ...{ code, what, spoil: (_provider, kind) => only(kind, spoiler) },
  })),
);

describe('a type', () => {
  it('that hosts invent for JSON files, or none, is no fault: the content counts', async () => {
    const typed: Spoiler = (_path, { body }) => ({
      ...{ headers: { 'content-type': 'binary/octet-stream' }, body },
    });
    scene.provider.spoil(typed);
    await scene.publish(0, 10);
    expect(await scene.lines()).toEqual([]);
    expect(await scene.served()).toEqual(teas(0, 10));
  });
});

describe('"nothing new"', () => {
  it('http-status: about a file that was never read is not believed', async () => {
    scene.provider.spoil(only('index', unchanged));
    await scene.publish(0, 10);
    expect(await scene.served()).toBeUndefined();
    await scene.expectTold('http-status');
    scene.provider.spoil(only('baseline', unchanged));
    await scene.look();
    expect(await scene.served()).toBeUndefined();

    scene.provider.spoil();
    await scene.look();
    expect(await scene.served()).toEqual(teas(0, 10));
  });

  it('http-status: is not believed either when the index is past its next_update', async () => {
    const { provider } = scene;
    const index = (document: { next_update: string }) => {
      document.next_update = '2020-01-01T00:00:00Z';
    };
    provider.spoil(forge(provider, { index }));
    await scene.publish(0, 10);
    provider.spoil(only('index', unchanged));
    await scene.publish(1, 11);
    expect(await scene.served()).toEqual(teas(0, 10));
    await scene.expectTold('http-status');
  });

  it('about the index never hides work: a file that could not be had is fetched when it can', async () => {
    const { provider } = scene;
    await scene.publish(0, 10);
    provider.spoil(only('change', answers(404)));
    await scene.publish(1, 11);
    expect(await scene.served()).toEqual(teas(0, 10));
    provider.requests.length = 0;
    provider.spoil(only('index', unchanged));
    await scene.look();
    expect(await scene.served()).toEqual(teas(1, 11));
    expect(provider.requests).toContainEqual(expect.objectContaining({ status: 304 }));
  });
});

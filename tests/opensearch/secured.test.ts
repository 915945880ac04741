import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findObstacle } from '../../scripts/opensearch.mjs';
import { certificate, key } from '../support/network/tls-host.ts';
import { keepWarnings } from '../support/processes/kept-log.ts';
import { apply } from '../support/search/by-the-book.ts';
import {
  type Cluster,
  feedSearch,
  openSearchSettings,
  startFedSearch,
} from '../support/search/open-search.ts';
import {
  securedPassword,
  securedPrefix,
  securedUser,
  startSecuredCluster,
} from '../support/search/secured-cluster.ts';
import { until } from '../support/time.ts';
import { sampleIndex } from '../support/values/arbitrary-index.ts';

// OpenSearch with its security plugin, and without any node for a while.

const index = sampleIndex();
const everything = { message: { intent: {} }, scope: {} };
const wrongPassword = 'wrong-5e2a';
const apiKey = 'key-77d1e4';
const unavailable = { code: 'NET_DOWNSTREAM_UNAVAILABLE', status: 503, retryAfterSeconds: 5 };

describe.skipIf(findObstacle())('a secured OpenSearch (needs Java 17 and Maven)', () => {
  let cluster: Cluster;
  let directory: string;
  let caFile: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'signpost-ca-'));
    caFile = join(directory, 'ca.pem');
    await writeFile(caFile, certificate);
    cluster = await startSecuredCluster();
  });
  afterAll(async () => {
    await cluster?.close();
    await rm(directory, { recursive: true });
  });

  const byPassword = (urls = cluster.urls) => ({
    ...openSearchSettings(urls),
    OPENSEARCH_PREFIX: securedPrefix,
    OPENSEARCH_CA_FILE: caFile,
    OPENSEARCH_USER: securedUser,
    OPENSEARCH_PASSWORD: securedPassword,
  });
  const byKey = (urls: string[]) => ({
    ...openSearchSettings(urls),
    OPENSEARCH_CA_FILE: caFile,
    OPENSEARCH_API_KEY: apiKey,
  });

  it('is fed, searched, checked and built again by a user with the documented rights alone', async () => {
    const fed = await startFedSearch(byPassword());
    const feed = async () => {
      const feeding = await feedSearch(fed.service);
      await feeding.catchUp().finally(feeding.close);
    };
    try {
      await apply(fed.database, index);
      await feed();
      const { total } = (await fed.service.search(everything)).answer;
      expect(total).toBeGreaterThan(0);
      expect(await fed.index.check({ onDifference: () => undefined })).toMatchObject({ differences: 0 });
      await fed.index.rebuild();
      await feed();
      expect((await fed.service.search(everything)).answer.total).toBe(total);
    } finally {
      await fed.close();
    }
  });

  it.each([
    ['another password', () => ({ ...byPassword(), OPENSEARCH_PASSWORD: wrongPassword }), /answered 401/],
    ['a certificate that is not trusted', () => omit(byPassword(), 'OPENSEARCH_CA_FILE'), /certificate/],
  ])('is not fed with %s, and the log says why without the secret', async (_, settings, reason) => {
    await expectRefused(settings(), reason);
  });

  it('sends the API key in its header, and logs a refusal without the key', async () => {
    const headers: (string | undefined)[] = [];
    const server = createServer({ key, cert: certificate }, (request, response) => {
      headers.push(request.headers.authorization);
      response.writeHead(401).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      await expectRefused(byKey([`https://localhost:${port}`]), /answered 401/);
    } finally {
      server.closeAllConnections();
      server.close();
    }
    expect([...new Set(headers)]).toEqual([`ApiKey ${apiKey}`]);
  });

  it('is answered with 503 while no node answers, and catches up by itself afterwards', async () => {
    const fed = await startFedSearch(byPassword());
    const feeding = await feedSearch(fed.service);
    try {
      await apply(fed.database, index.slice(1));
      await feeding.catchUp();
      const before = (await fed.service.search(everything)).answer.total;
      await cluster.nodes[0]?.kill();
      await apply(fed.database, index);
      await expect(fed.service.search(everything)).rejects.toMatchObject(unavailable);
      await cluster.nodes[0]?.start();
      await feeding.catchUp();
      expect((await fed.service.search(everything)).answer.total).toBeGreaterThan(before);
    } finally {
      await feeding.close();
      await fed.close();
    }
  });
});

/** Feeds in vain until the log has the reason; searches are refused meanwhile. */
async function expectRefused(settings: Record<string, string>, reason: RegExp): Promise<void> {
  const fed = await startFedSearch(settings);
  const { logger, warnings } = keepWarnings();
  const feeding = await feedSearch(fed.service, logger);
  const log = () =>
    warnings
      .map(({ says, err }) => `${says} ${err instanceof Error ? err.stack : ''} ${causeOf(err)}`)
      .join();
  try {
    await until(() => reason.test(log()), 'the reason in the log');
    const basic = Buffer.from(`${securedUser}:${securedPassword}`).toString('base64');
    for (const secret of [securedPassword, wrongPassword, apiKey, basic]) expect(log()).not.toContain(secret);
    await expect(fed.service.search(everything)).rejects.toMatchObject(unavailable);
  } finally {
    await feeding.close();
    await fed.close();
  }
}

function omit(settings: Record<string, string>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).filter(([each]) => each !== name));
}

function causeOf(error: unknown): string {
  return error instanceof Error ? `${error.message} ${causeOf(error.cause)}` : '';
}

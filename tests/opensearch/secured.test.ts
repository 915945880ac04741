import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificate, key } from '../support/network/tls-host.ts';
import { keepWarnings } from '../support/processes/kept-log.ts';
import { apply } from '../support/search/by-the-book.ts';
import {
  type Cluster,
  feedSearch,
  obstacle,
  openSearchSettings,
  startCluster,
  startFedSearch,
} from '../support/search/open-search.ts';
import { until } from '../support/time.ts';
import { sampleIndex } from '../support/values/arbitrary-index.ts';

// OpenSearch behind TLS and a password or API key, as a secured cluster is, and without any node for a while. The distribution of the tests has no security
// plugin: a proxy terminates TLS and compares the header.

const index = sampleIndex();
const everything = { message: { intent: {} }, scope: {} };
const password = 'pass-1f0c9b';
const apiKey = 'key-77d1e4';
const basic = `Basic ${Buffer.from(`signpost:${password}`).toString('base64')}`;
const unavailable = { code: 'NET_DOWNSTREAM_UNAVAILABLE', status: 503, retryAfterSeconds: 5 };

describe.skipIf(obstacle)('a secured OpenSearch (needs Java 17 and Maven)', () => {
  let cluster: Cluster;
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  let directory: string;
  let caFile: string;

  beforeAll(async () => {
    cluster = await startCluster();
    proxy = await startProxy(cluster.urls[0] ?? '');
    directory = await mkdtemp(join(tmpdir(), 'signpost-ca-'));
    caFile = join(directory, 'ca.pem');
    await writeFile(caFile, certificate);
  });
  afterAll(async () => {
    await proxy.close();
    await cluster.close();
    await rm(directory, { recursive: true });
  });

  const secured = (more: Record<string, string>) => ({ ...openSearchSettings([proxy.url]), ...more });
  const byPassword = () =>
    secured({ OPENSEARCH_CA_FILE: caFile, OPENSEARCH_USER: 'signpost', OPENSEARCH_PASSWORD: password });

  it.each([
    ['a user with a password', byPassword],
    ['an API key', () => secured({ OPENSEARCH_CA_FILE: caFile, OPENSEARCH_API_KEY: apiKey })],
  ])('is fed and searched by %s', async (_, settings) => {
    const fed = await startFedSearch(settings());
    try {
      await apply(fed.database, index);
      const feeding = await feedSearch(fed.service);
      await feeding.catchUp().finally(feeding.close);
      expect((await fed.service.search(everything)).answer.total).toBeGreaterThan(0);
    } finally {
      await fed.close();
    }
  });

  it.each([
    [
      'another password',
      () => ({ ...byPassword(), OPENSEARCH_PASSWORD: 'wrong-5e2a' }),
      /OpenSearch answered 401/,
    ],
    ['a certificate that is not trusted', () => secured({ OPENSEARCH_API_KEY: apiKey }), /certificate/],
  ])('is not fed with %s, and the log says why without the secret', async (_, settings, reason) => {
    const fed = await startFedSearch(settings());
    const { logger, warnings } = keepWarnings();
    const feeding = await feedSearch(fed.service, logger);
    const log = () =>
      warnings
        .map(({ says, err }) => `${says} ${err instanceof Error ? err.stack : ''} ${causeOf(err)}`)
        .join();
    try {
      await until(() => reason.test(log()), 'the reason in the log');
      for (const secret of [password, 'wrong-5e2a', apiKey, basic.slice(6)])
        expect(log()).not.toContain(secret);
      await expect(fed.service.search(everything)).rejects.toMatchObject(unavailable);
    } finally {
      await feeding.close();
      await fed.close();
    }
  });

  it('is answered with 503 while no node answers, and catches up by itself afterwards', async () => {
    const fed = await startFedSearch(byPassword());
    const feeding = await feedSearch(fed.service);
    try {
      await apply(fed.database, index.slice(1));
      await feeding.catchUp();
      const before = (await fed.service.search(everything)).answer.total;
      proxy.setReachable(false);
      await apply(fed.database, index);
      await expect(fed.service.search(everything)).rejects.toMatchObject(unavailable);
      proxy.setReachable(true);
      await feeding.catchUp();
      expect((await fed.service.search(everything)).answer.total).toBeGreaterThan(before);
    } finally {
      proxy.setReachable(true);
      await feeding.close();
      await fed.close();
    }
  });
});

function causeOf(error: unknown): string {
  return error instanceof Error ? `${error.message} ${causeOf(error.cause)}` : '';
}

/** Terminates TLS, refuses requests without the password or key, and passes the others on. */
async function startProxy(target: string) {
  let isReachable = true;
  const server = createServer({ key, cert: certificate }, async (request, response) => {
    if (!isReachable) return request.destroy();
    const { authorization, 'content-type': type } = request.headers;
    if (authorization !== basic && authorization !== `ApiKey ${apiKey}`)
      return response.writeHead(401).end('Unauthorized');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = chunks.length > 0 ? Buffer.concat(chunks) : undefined;
    const answer = await fetch(`${target}${request.url}`, {
      ...{ method: request.method, body, headers: type === undefined ? {} : { 'content-type': type } },
    });
    return response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    setReachable(reachable: boolean) {
      isReachable = reachable;
      if (!reachable) server.closeAllConnections();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until, watchFor } from '../../tests/support/time.ts';
import { createGuardedClient, type GuardedClient } from '../http/guarded-client.ts';
import { silentLogger } from '../logger.ts';
import type { TriggerAnswer } from '../protocol/trigger-messages.ts';
import { createCrawlHints } from './hint-crawlers.ts';

const changed: TriggerAnswer = {
  status: 'COMPLETED',
  results: [{ catalogId: 'c', status: 'ACCEPTED', version: 2 }],
};

describe('the hints of a publisher that runs', () => {
  /** Number of received hints. */
  let told = 0;
  let answer: { status: number; headers?: Record<string, string> };
  const service = createServer((request, response) => {
    told += 1;
    request.resume();
    response.writeHead(answer.status, answer.headers).end('{}');
  });
  let url: string;
  let client: GuardedClient;
  let hints: ReturnType<typeof createCrawlHints>;

  beforeEach(async () => {
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    told = 0;
    client = createGuardedClient({ allowPrivateAddresses: false });
    hints = createCrawlHints({
      ...{ urls: [url], nodeId: 'bpp.example.org', client, logger: silentLogger() },
    });
  });
  afterEach(async () => {
    hints.close();
    await client.close();
    service.closeAllConnections();
    service.close();
  });

  const later = () =>
    `The discovery service at ${url} was notified a moment ago; it will be notified again in 2 s.`;

  it('are sent again when the service says, once for all that was published meanwhile', async () => {
    answer = { status: 429, headers: { 'retry-after': '2' } };
    const answers = await Promise.all([hints.tell(changed), hints.tell(changed), hints.tell(changed)]);
    expect(answers.map(({ warnings }) => warnings)).toEqual([[later()], [later()], [later()]]);
    expect(told).toBe(3);
    answer = { status: 200 };
    await until(() => told > 3, 'the further hint');
    expect(await hints.tell(changed)).toBe(changed);
    await watchFor(500);
    expect(told).toBe(5);
  });

  it('are not sent again where the service does not say when, or not soon, or has failed', async () => {
    for (const refusal of [
      { status: 429 },
      { status: 429, headers: { 'retry-after': '3600' } },
      { status: 503, headers: { 'retry-after': '1' } },
    ]) {
      answer = refusal;
      const { warnings } = await hints.tell(changed);
      expect(warnings).toEqual([
        `The discovery service at ${url} was not notified: it answers ${refusal.status}.`,
      ]);
    }
    await watchFor(1_500);
    expect(told).toBe(3);
  });

  it('that wait are dropped when the publisher ends', async () => {
    answer = { status: 429, headers: { 'retry-after': '1' } };
    await hints.tell(changed);
    hints.close();
    await watchFor(1_500);
    expect(told).toBe(1);
  });
});

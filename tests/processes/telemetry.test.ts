import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import { createMetrics } from '../../src/metrics.ts';
import { actions } from '../../src/protocol/actions.ts';
import { startTelemetry } from '../../src/telemetry/start.ts';
import { publishCatalog, resource } from '../support/catalogs/small-catalogs.ts';
import type { Actor } from '../support/network/actor.ts';
import { type CollectedSpan, type Collector, startCollector } from '../support/network/collector.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { prepareDiscovery } from '../support/processes/discovery-process.ts';
import { type ServiceProcess, startCatalogProcess } from '../support/processes/service-process.ts';
import { until } from '../support/time.ts';

// OpenTelemetry as an operator sets it up: catalog service and discovery service in separate processes, from the built files, and a collector that
// both export to.

/** Makes a process print every module that it loads. */
const listed = {
  NODE_OPTIONS: `--import ${pathToFileURL(resolve('tests/support/processes/list-modules.mjs')).href}`,
};

let network: TestNetwork;
let collector: Collector;
let provider: Actor;
let consumer: Actor;
let catalogService: ServiceProcess;
let discoveryService: ServiceProcess;

beforeAll(async () => {
  collector = await startCollector();
  network = await startNetwork({ settings: { ROLES: 'registry' } });
  provider = await network.actor('provider');
  consumer = await network.actor('shopper');
  const settings = (name: string) => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=signpost',
    OTEL_SERVICE_NAME: name,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_METRIC_EXPORT_INTERVAL: '500',
    LOG_LEVEL: 'info',
  });
  catalogService = await startCatalogProcess(network, { ...settings('catalog'), ...listed });
  const start = await prepareDiscovery(network, {
    ...settings('discovery'),
    DISCOVERY_SUBSCRIPTIONS: JSON.stringify([
      { catalogUrl: network.catalogUrl, networkIds: [defaultNetwork] },
    ]),
  });
  discoveryService = await start();
  await until(async () => {
    const { rows } = await network.database.query(
      'select from discovery.feed where completed_at is not null',
    );
    return rows.length > 0;
  }, 'the first pull');
});
afterAll(async () => {
  await catalogService?.kill();
  await discoveryService?.kill();
  await network?.close();
  await collector?.close();
});

/** The spans of one trace, once it has one of each name. */
async function traceOf(isRoot: (span: CollectedSpan) => boolean, names: readonly string[]) {
  return until(
    () => {
      const root = collector.spans.find(isRoot);
      const spans = collector.spans.filter(({ traceId }) => traceId === root?.traceId);
      return names.every((name) => spans.some((span) => labelOf(span) === name)) && spans;
    },
    `a trace of ${names.join(', ')}`,
  );
}

const kinds: Record<number, string> = { 1: 'internal', 2: 'server', 3: 'client' };

function labelOf({ service, kind, name }: CollectedSpan): string {
  return `${service} ${kinds[kind]} ${name}`;
}

/** Each span with its parent: `parent → span`. */
function edges(spans: readonly CollectedSpan[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  return spans.map((span) => {
    const parent = span.parentSpanId && byId.get(span.parentSpanId);
    return `${parent ? labelOf(parent) : (span.parentSpanId ?? 'nothing')} → ${labelOf(span)}`;
  });
}

function expectOrder(spans: readonly CollectedSpan[], names: readonly string[]): void {
  const inOrder = names.map((name) => spans.find((span) => labelOf(span) === name));
  for (const [index, span] of inOrder.entries()) {
    const before = inOrder[index - 1];
    if (before && span) expect(span.startedAt >= before.startedAt, names[index]).toBe(true);
  }
}

describe('with OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  it('a publish is one trace over its processing, its push and its ingest to on_publish, across processes', async () => {
    const id = 'traced';
    await publishCatalog(provider, { id, resources: [resource('tea')] });
    const names = [
      'catalog server catalog/publish',
      'catalog internal process catalog/publish',
      'catalog client catalog/push',
      'discovery server catalog/push',
      'discovery internal ingest',
    ];
    const isPublish = (span: CollectedSpan) => labelOf(span) === names[0];
    const spans = await traceOf(isPublish, [...names, 'catalog client catalog/on_publish']);
    expect(edges(spans).sort()).toEqual(
      [
        'nothing → catalog server catalog/publish',
        'catalog server catalog/publish → catalog internal process catalog/publish',
        'catalog internal process catalog/publish → catalog client catalog/on_publish',
        'catalog internal process catalog/publish → catalog client catalog/push',
        'catalog client catalog/push → discovery server catalog/push',
        'discovery server catalog/push → discovery internal ingest',
      ].sort(),
    );
    expectOrder(spans, names);
    // Pushed catalogs can be found once the push is answered.
    const ingest = spans.find(({ name }) => name === 'ingest');
    const pushed = spans.find((span) => labelOf(span) === 'catalog client catalog/push');
    expect((ingest?.endedAt ?? 0n) <= (pushed?.endedAt ?? 0n)).toBe(true);
    const publish = spans.find(isPublish);
    expect(publish?.attributes).toMatchObject({
      'beckn.action': 'catalog/publish',
      'sender.id': provider.id,
      'recipient.id': network.config.identities.catalog.id,
      producer: network.config.identities.catalog.id,
      message_id: expect.any(String),
      transaction_id: expect.any(String),
      'http.response.status_code': 200,
    });
    const internal = spans.filter(({ scope }) => scope === 'signpost.internal').map(labelOf);
    expect(internal.sort()).toEqual([names[1], names[4]].sort());
  });

  it('a discover is one trace over plan, candidates, check and answer to on_discover, and goes on with that of its caller', async () => {
    const caller = { traceId: randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex') };
    const { messageId } = await consumer.send(
      actions.discover,
      { intent: { textSearch: 'tea' } },
      { to: discoveryService.url, headers: { traceparent: `00-${caller.traceId}-${caller.spanId}-01` } },
    );
    const callback = await consumer.waitFor('on_discover', messageId);
    const inside = ['plan', 'refresh', 'find', 'answer'].map((name) => `discovery internal ${name}`);
    const names = ['discovery server discover', ...inside, 'discovery client on_discover'];
    const spans = await traceOf(({ traceId }) => traceId === caller.traceId, names);
    // The last publish changes the index while the answer is stored, so the search is repeated in the same trace.
    expect([...new Set(edges(spans))].sort()).toEqual(
      [
        `${caller.spanId} → discovery server discover`,
        ...inside.map((name) => `discovery server discover → ${name}`),
        'discovery internal answer → discovery client on_discover',
      ].sort(),
    );
    expectOrder(spans, names);
    const find = (name: string) => spans.find((span) => span.name === name);
    expect(find('answer')).toMatchObject({
      scope: 'signpost.network',
      attributes: { 'result.empty': false, 'result.providers': [expect.any(String)], message_id: messageId },
    });
    expect(find('on_discover')?.attributes).toMatchObject({
      'beckn.action': 'on_discover',
      'recipient.id': consumer.id,
      message_id: messageId,
    });
    expect(callback.headers.traceparent).toBe(`00-${caller.traceId}-${find('on_discover')?.spanId}-01`);
  });

  it('ignores a traceparent that cannot be read', async () => {
    const { status, messageId } = await consumer.send(
      actions.discover,
      { intent: { textSearch: 'nothing of this' } },
      { to: discoveryService.url, headers: { traceparent: '00-zz-yy-01' } },
    );
    expect(status).toBe(202);
    const span = await until(() =>
      collector.spans.find(
        ({ name, attributes }) => name === 'discover' && attributes.message_id === messageId,
      ),
    );
    expect([span.parentSpanId, span.traceId.length]).toEqual([undefined, 32]);
    const answer = await until(() =>
      collector.spans.find(({ name, traceId }) => name === 'answer' && traceId === span.traceId),
    );
    expect(answer.attributes).toMatchObject({ 'result.empty': true, 'search.kind': 'text' });
  });

  it('exports metrics under the names of /metrics, and the log, with the headers that it was told', async () => {
    await until(() => collector.metrics.has('signpost_discover_seconds'), 'metrics');
    expect([...collector.metrics]).toContain('signpost_http_request_seconds');
    await until(() => collector.logs.some(({ body }) => body === 'pulled'), 'a line of the log');
    expect(collector.headers.every((headers) => headers['x-tenant'] === 'signpost')).toBe(true);
  });

  it('loads the SDK; without it, nothing of OpenTelemetry is loaded', async () => {
    expect(loadedOfOpenTelemetry(catalogService)).not.toEqual([]);
    await catalogService.kill();
    catalogService = await startCatalogProcess(network, listed);
    expect(catalogService.log.some((line) => line.includes('/fastify/'))).toBe(true);
    expect(loadedOfOpenTelemetry(catalogService)).toEqual([]);
  });
});

it('OTEL_SDK_DISABLED switches it off, whatever else is set', async () => {
  const config = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SDK_DISABLED: 'true' });
  expect(await startTelemetry(config, createMetrics({ process: false }), silentLogger())).toBeUndefined();
});

function loadedOfOpenTelemetry({ log }: ServiceProcess): string[] {
  return log.filter((line) => line.startsWith('loaded ') && line.includes('/@opentelemetry/'));
}

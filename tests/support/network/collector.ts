import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

// An OpenTelemetry collector: it accepts OTLP over HTTP in JSON, like real ones, and keeps everything.

export interface CollectedSpan {
  name: string;
  /** Scope of its instrumentation. */
  scope: string;
  /** OTLP: 1 internal, 2 server, 3 client. */
  kind: number;
  service: unknown;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  startedAt: bigint;
  endedAt: bigint;
  attributes: Record<string, unknown>;
}

export interface Collector {
  url: string;
  spans: CollectedSpan[];
  /** Names of metrics. */
  metrics: Set<string>;
  logs: { body: unknown; attributes: Record<string, unknown> }[];
  /** Headers of the requests. */
  headers: Record<string, unknown>[];
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const spans: Collector['spans'] = [];
  const metrics = new Set<string>();
  const logs: Collector['logs'] = [];
  const headers: Collector['headers'] = [];
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as Otlp;
    headers.push(request.headers);
    for (const { resource, scopeSpans } of body.resourceSpans ?? [])
      for (const { scope, spans: some } of scopeSpans)
        for (const span of some) spans.push(toSpan(span, scope.name, readAttributes(resource.attributes)));
    for (const { scopeMetrics } of body.resourceMetrics ?? [])
      for (const { metrics: some } of scopeMetrics) for (const { name } of some) metrics.add(name);
    for (const { scopeLogs } of body.resourceLogs ?? [])
      for (const { logRecords } of scopeLogs)
        for (const record of logRecords)
          logs.push({ body: readValue(record.body), attributes: readAttributes(record.attributes) });
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    ...{ spans, metrics, logs, headers },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Otlp {
  resourceSpans?: {
    resource: { attributes: OtlpAttribute[] };
    scopeSpans: { scope: { name: string }; spans: OtlpSpan[] }[];
  }[];
  resourceMetrics?: { scopeMetrics: { metrics: { name: string }[] }[] }[];
  resourceLogs?: { scopeLogs: { logRecords: { body: OtlpValue; attributes: OtlpAttribute[] }[] }[] }[];
}

interface OtlpSpan {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: OtlpAttribute[];
}

type OtlpValue = Record<string, unknown> & { arrayValue?: { values: OtlpValue[] } };

interface OtlpAttribute {
  key: string;
  value: OtlpValue;
}

function toSpan(span: OtlpSpan, scope: string, resource: Record<string, unknown>): CollectedSpan {
  const { name, kind, traceId, spanId, parentSpanId, startTimeUnixNano, endTimeUnixNano } = span;
  return {
    ...{ name, scope, kind, traceId, spanId, parentSpanId: parentSpanId || undefined },
    service: resource['service.name'],
    startedAt: BigInt(startTimeUnixNano),
    endedAt: BigInt(endTimeUnixNano),
    attributes: readAttributes(span.attributes),
  };
}

function readAttributes(attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, readValue(value)]));
}

function readValue(value: OtlpValue): unknown {
  return value.arrayValue ? value.arrayValue.values.map(readValue) : Object.values(value)[0];
}

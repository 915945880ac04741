import { randomUUID } from 'node:crypto';
import {
  type Attributes as OtelAttributes,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { type LogRecord, SeverityNumber } from '@opentelemetry/api-logs';
import { parseTraceParent, setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { followLogs, type Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import { programVersion } from '../program-version.ts';
import { createMetricProducer } from './metric-producer.ts';
import { type OpenSpan, type SpanOptions, type Tracer, useTracer } from './tracing.ts';

// The SDK of OpenTelemetry: OTLP over HTTP in JSON, configured by the usual OTEL_… variables. Nothing waits for a collector: late data is dropped.

interface SdkOptions {
  /** Unless OTEL_RESOURCE_ATTRIBUTES names another. */
  serviceName: string;
  exportEveryMs: number;
  metrics: Metrics;
  logger: Logger;
}

/** A collector that is gone fails every export, of three kinds, every few seconds. */
const failuresLoggedEveryMs = 60_000;

export function startSdk(options: SdkOptions): { close(): Promise<void> } {
  const { serviceName, exportEveryMs, metrics, logger: ownLog } = options;
  logFailedExports(ownLog);
  const resource = resourceFromAttributes({
    'service.name': serviceName,
    'service.version': programVersion(),
    'service.instance.id': randomUUID(),
  }).merge(detectResources({ detectors: [envDetector] }));
  const spans = new BasicTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const meters = new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter(),
        exportIntervalMillis: exportEveryMs,
        exportTimeoutMillis: exportEveryMs,
        metricProducers: [createMetricProducer(metrics.registry, resource)],
      }),
    ],
  });
  const logs = new LoggerProvider({
    resource,
    processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter() })],
  });
  const logger = logs.getLogger('signpost.internal');
  const stopFollowing = followLogs((line) => logger.emit(logRecordOf(line)));
  useTracer(
    createTracer({
      network: spans.getTracer('signpost.network'),
      internal: spans.getTracer('signpost.internal'),
    }),
  );
  return {
    async close() {
      useTracer(undefined);
      stopFollowing();
      // A collector that is gone must not hold up the end of the process.
      await Promise.allSettled([spans.shutdown(), meters.shutdown(), logs.shutdown()]);
    },
  };
}

/** The SDK tells nobody else of exports that fail. */
function logFailedExports(logger: Logger): void {
  let quietUntil = 0;
  setGlobalErrorHandler((error) => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + failuresLoggedEveryMs;
    logger.warn(
      { err: error },
      'OTEL_EXPORTER_OTLP_ENDPOINT does not accept the exported data, which is dropped. Check that the collector runs there and accepts OTLP over HTTP',
    );
  });
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT };

function createTracer(scopes: Record<SpanOptions['scope'], OtelTracer>): Tracer {
  return {
    start(name, { scope, kind, parent, attributes = {}, startedAt = performance.now() }) {
      const caller = parent ? parseTraceParent(parent) : null;
      const context = caller
        ? trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true })
        : ROOT_CONTEXT;
      const options = {
        kind: kind ? kinds[kind] : SpanKind.INTERNAL,
        attributes: known(attributes),
        startTime: epochMs(startedAt),
      };
      return openSpan(scopes[scope].startSpan(name, options, context));
    },
  };
}

function openSpan(span: Span): OpenSpan {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    set: (attributes) => void span.setAttributes(known(attributes)),
    end({ error, endedAt = performance.now() } = {}) {
      if (error !== undefined) {
        const message = error instanceof Error ? error.message : String(error);
        span.setStatus({ code: SpanStatusCode.ERROR, message });
      }
      span.end(epochMs(endedAt));
    },
  };
}

function epochMs(onMonotonicClock: number): number {
  return performance.timeOrigin + onMonotonicClock;
}

function known(attributes: NonNullable<SpanOptions['attributes']>): OtelAttributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

/** Names of the levels 10, 20 … 60 of pino. */
const severities = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'] as const;

/** A line of the log as a record of OpenTelemetry. `line` is what pino writes. */
function logRecordOf(line: string): LogRecord {
  const { level, time, msg, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const attributes = Object.entries(rest).map(([name, value]) => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : value,
  ]);
  const severity = severities[Number(level) / 10 - 1];
  return {
    ...(severity && { severityNumber: SeverityNumber[severity], severityText: severity }),
    timestamp: new Date(String(time)),
    body: String(msg ?? ''),
    attributes: Object.fromEntries(attributes),
  };
}

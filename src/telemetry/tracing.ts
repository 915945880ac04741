// Traces. Without OTEL_EXPORTER_OTLP_ENDPOINT, no module of OpenTelemetry is loaded. A trace travels as a W3C traceparent, in rows and in headers.

export type Attributes = Record<string, string | number | boolean | string[] | undefined>;

export interface SpanOptions {
  /** `network`: exchanges between participants; `internal`: details for the operator of this service. */
  scope: 'network' | 'internal';
  kind?: 'server' | 'client';
  /** The traceparent of the parent span. An unreadable one counts as none. */
  parent?: string | null;
  attributes?: Attributes;
  /** On the clock of performance.now(); default: now. */
  startedAt?: number;
}

export interface OpenSpan {
  traceparent: string;
  set(attributes: Attributes): void;
  /** @param endedAt on the clock of performance.now(); default: now */
  end(outcome?: { error?: unknown; endedAt?: number }): void;
}

export interface Tracer {
  start(name: string, options: SpanOptions): OpenSpan;
}

let tracer: Tracer | undefined;

export function useTracer(next: Tracer | undefined): void {
  tracer = next;
}

/** Runs work within a span; `options` is not called if nothing is traced. */
export async function traced<T>(
  name: string,
  options: () => SpanOptions,
  work: (span: OpenSpan | undefined) => Promise<T>,
): Promise<T> {
  if (tracer === undefined) return work(undefined);
  const span = tracer.start(name, options());
  try {
    const result = await work(span);
    span.end();
    return result;
  } catch (error) {
    span.end({ error });
    throw error;
  }
}

interface Phase {
  name: string;
  startedAt: number;
  endedAt: number;
}

export function recordPhases(phases: readonly Phase[], parent: string | undefined): void {
  if (tracer === undefined) return;
  for (const { name, startedAt, endedAt } of phases)
    tracer.start(name, { scope: 'internal', parent, startedAt }).end({ endedAt });
}

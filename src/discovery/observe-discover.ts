import type { Answer, VerifiedRequest } from '../http/signed-route.ts';
import type { Metrics } from '../metrics.ts';
import type { actions } from '../protocol/actions.ts';
import { type Intent, spatialConstraints } from '../protocol/discover-messages.ts';
import type { Found } from '../search/port.ts';
import { recordPhases, traced } from '../telemetry/tracing.ts';

function kindOfIntent(intent: Intent): string {
  const parts = [
    ...(intent.textSearch?.trim() ? ['text'] : []),
    ...(intent.filters ? ['filter'] : []),
    ...(spatialConstraints(intent).length > 0 ? ['spatial'] : []),
  ];
  return parts.join('+') || 'none';
}

export type ObserveDiscover = (intent: Intent, arrivedAt: number, isFound: boolean) => void;

/** Counts evaluated intents, and their time from arrival until the answer was stored. */
export function observeDiscovers(metrics: Metrics): ObserveDiscover {
  const countHelp = 'Evaluated intents, by whether something was found';
  const count = metrics.counter('signpost_discovers_total', countHelp, ['found']);
  // So that the first one shows as an increase.
  for (const found of ['true', 'false']) count.inc({ found }, 0);
  const secondsHelp =
    'From the arrival of an intent until its answer was stored, by its parts and whether something was found';
  const seconds = metrics.histogram('signpost_discover_seconds', secondsHelp, ['kind', 'found']);
  return (intent, arrivedAt, isFound) => {
    const found = String(isFound);
    count.inc({ found });
    seconds.observe({ kind: kindOfIntent(intent), found }, (performance.now() - arrivedAt) / 1000);
  };
}

/** Records the phases of a search as spans of its request, and the answer in a separate span, from which the callback continues. */
export function traceAnswer(
  { traceparent: parent, context, message }: VerifiedRequest<typeof actions.discover>,
  { answer, trace }: Found,
  tell: (traceparent: string | undefined) => Promise<Answer>,
): Promise<Answer> {
  recordPhases(trace.phases, parent);
  return traced(
    'answer',
    () => ({
      scope: 'network',
      parent,
      attributes: {
        'beckn.action': 'discover',
        transaction_id: context.transactionId,
        message_id: context.messageId,
        'network.id': context.networkId,
        'search.kind': kindOfIntent(message.intent),
        'result.empty': answer.resourceCount === 0,
        'result.resources': answer.resourceCount,
        'result.providers': providersOf(answer.catalogs),
      },
    }),
    (span) => tell(span?.traceparent),
  );
}

/** Omitted for a larger answer: parsing it would cost more than the trace is worth. */
const maxParsedLength = 256 * 1024;
const maxProviders = 20;

function providersOf(catalogs: string): string[] | undefined {
  if (catalogs.length > maxParsedLength) return undefined;
  const parsed = JSON.parse(catalogs) as { provider?: { id?: string } }[];
  const ids = parsed.flatMap(({ provider }) => provider?.id ?? []);
  return [...new Set(ids)].slice(0, maxProviders);
}

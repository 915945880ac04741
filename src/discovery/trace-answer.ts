import type { Answer, VerifiedRequest } from '../http/signed-route.ts';
import type { actions } from '../protocol/actions.ts';
import type { Found } from '../search/port.ts';
import { recordPhases, traced } from '../telemetry/tracing.ts';
import { kindOfIntent } from './observe-discover.ts';

/** The phases of a search as spans of its request, and the answer in one of its own, from which the callback goes on. */
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

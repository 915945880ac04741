import type { Context } from '../protocol/context.ts';
import type { SigningKey } from '../protocol/keys.ts';
import { traced } from '../telemetry/tracing.ts';
import type { Answer } from './error-answer.ts';
import type { VerifiedRequest } from './verified-request.ts';

/** Answers a request within a span that continues the trace of its header. Only for verified requests. */
export function traceRequest(
  { role, self }: { role: string; self: SigningKey },
  request: VerifiedRequest,
  parent: string | string[] | undefined,
  answer: () => Promise<Answer>,
): Promise<Answer> {
  const { action, subscriberId, arrivedAt } = request;
  const context = request.context as Partial<Context> | undefined;
  return traced(
    action.name,
    () => ({
      scope: 'network',
      kind: 'server',
      parent: typeof parent === 'string' ? parent : undefined,
      startedAt: arrivedAt,
      attributes: {
        'beckn.action': action.name,
        transaction_id: context?.transactionId,
        message_id: context?.messageId,
        'network.id': context?.networkId,
        'sender.id': subscriberId,
        'recipient.id': self.subscriberId,
        producer: self.subscriberId,
        'producer.type': role,
      },
    }),
    async (span) => {
      if (span) request.traceparent = span.traceparent;
      const answered = await answer();
      span?.set({ 'http.response.status_code': answered.status });
      return answered;
    },
  );
}

import type { Context } from '../protocol/context.ts';
import { type Attributes, traced } from '../telemetry/tracing.ts';
import type { Sender } from './send.ts';

interface TracedDelivery {
  action: string;
  parent: string | null | undefined;
  /** Called only if the delivery is traced. */
  attributes(): Attributes;
}

/** One attempt to deliver as a span; `send` gets the parent for the receiver. */
export function traceDelivery<T extends { status?: number }>(
  { key }: Sender,
  { action, parent, attributes }: TracedDelivery,
  send: (traceparent: string | undefined) => Promise<T>,
): Promise<T> {
  return traced(
    action,
    () => ({
      scope: 'network',
      kind: 'client',
      parent,
      attributes: {
        'beckn.action': action,
        'sender.id': key.subscriberId,
        producer: key.subscriberId,
        ...attributes(),
      },
    }),
    async (span) => {
      const answer = await send(span?.traceparent);
      span?.set({ 'http.response.status_code': answer.status });
      return answer;
    },
  );
}

/** Reads the context of a callback. Ours comes before the message, which may be large and is not parsed. */
export function attributesOfCallback(body: Buffer, action: string): Attributes {
  const end = body.indexOf(',"message":');
  if (end === -1) return {};
  const { context } = JSON.parse(`${body.toString('utf8', 0, end)}}`) as { context: Context };
  const { transactionId, messageId, networkId, bapId, bppId } = context;
  return {
    transaction_id: transactionId,
    message_id: messageId,
    'network.id': networkId,
    'recipient.id': action === 'on_discover' ? bapId : (bppId ?? bapId),
  };
}

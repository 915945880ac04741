import { listPushReceivers, type PushReceiver } from '../storage/catalog/push-list.ts';
import type { Queryable } from '../storage/database.ts';
import { listCallbackReceivers } from '../storage/work/callback-list.ts';
import type { Receiver } from './answers/network.ts';

type ReceiverPosition = Pick<Receiver, 'kind' | 'receiver' | 'isTroubled'>;

const counted = 10_000;

const phases = [
  { kind: 'push', isTroubled: true },
  { kind: 'callback' },
  { kind: 'push', isTroubled: false },
] as const;

/** Failures first: subscribers with failed or parked pushes, receivers with waiting or parked callbacks, other subscribers. Each by name. */
export async function listReceivers(
  queryable: Queryable,
  { state, limit, after }: { state?: 'open' | 'parked'; limit: number; after?: ReceiverPosition },
) {
  const isReached = (phase: (typeof phases)[number]) =>
    after?.kind === phase.kind && (phase.kind === 'callback' || phase.isTroubled === after.isTroubled);
  const items: ReturnType<typeof receiverItem>[] = [];
  for (const phase of phases.slice(Math.max(phases.findIndex(isReached), 0))) {
    const room = limit - items.length;
    if (room === 0) break;
    const page = { state, counted, limit: room, after: isReached(phase) ? after?.receiver : undefined };
    const found =
      phase.kind === 'push'
        ? await listPushReceivers(queryable, { ...page, troubled: phase.isTroubled })
        : (await listCallbackReceivers(queryable, page)).map((one) => ({
            ...{ ...one, lastAt: null, isTroubled: one.lastError !== null },
          }));
    items.push(...found.map((one) => receiverItem(phase.kind, one)));
  }
  return items;
}

/** As in the API, with null for unknown values. */
function receiverItem(kind: Receiver['kind'], { lastAt, lastStatus, lastError, ...rest }: PushReceiver) {
  const isAnswered = lastStatus !== null || lastError !== null;
  return {
    ...{ ...rest, kind, orMore: Math.max(rest.waiting, rest.parked) >= counted },
    ...(isAnswered && {
      lastAnswer: { at: lastAt ?? undefined, status: lastStatus ?? undefined, error: lastError ?? undefined },
    }),
  };
}

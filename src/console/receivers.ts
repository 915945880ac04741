import { listPushReceivers } from '../storage/catalog/push-list.ts';
import type { Queryable } from '../storage/database.ts';
import { listCallbackReceivers } from '../storage/work/callback-list.ts';
import type { Receiver as ReceiverAnswer } from './answers/network.ts';
import type { Unsent } from './list.ts';

/** As the API describes it, with null for what is not known. Receivers of callbacks are listed only where some wait or are parked. */
type Receiver = Omit<Unsent<ReceiverAnswer>, 'oldestWaitingAt' | 'nextTryAt'> &
  Record<'oldestWaitingAt' | 'nextTryAt', Date | null>;
type ReceiverPosition = Pick<ReceiverAnswer, 'kind' | 'receiver' | 'isTroubled'>;

/** Of each receiver, waiting and parked deliveries are counted up to this number. */
const countedDeliveries = 10_000;

/** Trouble first: subscribers whose pushes fail or are parked, receivers of callbacks that have some waiting or parked, other subscribers. Each by name. */
export async function listReceivers(
  queryable: Queryable,
  { state, limit, after }: { state?: 'open' | 'parked'; limit: number; after?: ReceiverPosition },
): Promise<Receiver[]> {
  const counted = countedDeliveries;
  const phases = [
    { kind: 'push', isTroubled: true },
    { kind: 'callback' },
    { kind: 'push', isTroubled: false },
  ] as const;
  const isReached = (phase: (typeof phases)[number]) =>
    after?.kind === phase.kind && (phase.kind === 'callback' || phase.isTroubled === after.isTroubled);
  const items: Receiver[] = [];
  for (const phase of phases.slice(Math.max(phases.findIndex(isReached), 0))) {
    const page = {
      state,
      counted,
      limit: limit - items.length,
      after: isReached(phase) ? after?.receiver : undefined,
    };
    if (page.limit === 0) break;
    const found =
      phase.kind === 'push'
        ? await listPushReceivers(queryable, { ...page, troubled: phase.isTroubled })
        : (await listCallbackReceivers(queryable, page)).map((one) => ({
            ...one,
            isTroubled: one.lastError !== null,
          }));
    items.push(...found.map((one) => receiverItem(phase.kind, one)));
  }
  return items;
}

interface CountedReceiver
  extends Pick<Receiver, 'receiver' | 'waiting' | 'parked' | 'oldestWaitingAt' | 'nextTryAt' | 'isTroubled'> {
  lastAt?: Date | null;
  lastStatus: number | null;
  lastError: string | null;
}

function receiverItem(
  kind: Receiver['kind'],
  { lastAt, lastStatus, lastError, ...rest }: CountedReceiver,
): Receiver {
  const isAnswered = lastStatus !== null || lastError !== null;
  return {
    ...rest,
    kind,
    orMore: Math.max(rest.waiting, rest.parked) >= countedDeliveries,
    ...(isAnswered && {
      lastAnswer: { at: lastAt ?? undefined, status: lastStatus ?? undefined, error: lastError ?? undefined },
    }),
  };
}

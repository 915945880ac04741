import { addTo } from '../../group.ts';
import type { Trouble } from '../../rules/troubles.ts';
import type { MissedPush } from '../../storage/catalog/consistency.ts';
import type { CrawledVersion } from '../../storage/crawl/status.ts';
import { counted, joinSome } from '../command.ts';

export interface Difference {
  kind:
    | 'catalog-rows'
    | 'push-missed'
    | 'subscription'
    | 'copy-missing'
    | 'copy-surplus'
    | 'copy-hidden'
    | 'copy-differs'
    | 'crawl-behind'
    | 'file'
    | 'file-behind'
    | 'index'
    | Trouble['kind'];
  catalogId?: string;
  catalogIds?: string[];
  message: string;
}

/** A difference that may still resolve. It counts if it is still there after a while without progress. */
export interface Suspect extends Difference {
  /** Identifies the same difference in the next comparison. */
  name: string;
  /** A different text in the next comparison means progress. */
  progress: string;
  /** Differences with the same cause are merged. */
  cause?: string;
}

/** Returns one difference per cause: a dead receiver is one, however many catalogs it misses. */
export function groupByCause(suspects: readonly Suspect[]): Difference[] {
  const groups = new Map<string, Suspect[]>();
  for (const suspect of suspects) addTo(groups, `${suspect.kind} ${suspect.cause ?? suspect.name}`, suspect);
  return [...groups.values()].map((group): Difference => {
    const { kind, catalogId, message, cause } = group[0] as Suspect;
    if (group.length === 1) return { kind, ...(catalogId !== undefined && { catalogId }), message };
    const catalogIds = group.flatMap((each) => each.catalogId ?? []);
    const named = joinSome(catalogIds);
    return { kind, catalogIds, message: `${cause}: ${counted(group.length, 'catalog')}: ${named}.` };
  });
}

export type Look = (ids?: readonly string[]) => Promise<Suspect[]>;

export function missedPush(missed: MissedPush): Suspect {
  const { id, version, subscriber, acknowledgedVersion, state, attempts, lastSentAt } = missed;
  return {
    ...{ kind: 'push-missed', catalogId: id, name: `push ${id} ${subscriber}`, cause: describeCause(missed) },
    // While its receiver accepts other pushes, a push that never failed is only waiting for its turn.
    progress: [acknowledgedVersion, state, attempts, attempts === 0 ? lastSentAt?.getTime() : ''].join(' '),
    message: `catalog ${id} is at version ${version} in the catalog service, ${describePush(missed)}`,
  };
}

/** How long a due push may take: the receiver has 30 s to answer, and others may be sent first. */
const underWayMs = 60_000;

/** Whether a push has failed and waits for a retry. Parked pushes do not count, and neither do overdue ones. */
export function isInBackoff({ state, attempts, dueAt }: MissedPush, now: Date): boolean {
  return state === 'pending' && (attempts ?? 0) > 0 && now.getTime() < (dueAt?.getTime() ?? 0) + underWayMs;
}

function describePush(missed: MissedPush): string {
  const { subscriber, acknowledgedVersion, state, lastError, isWithdrawal } = missed;
  if (state === null) return `but ${subscriber} has missed it: no push was planned.`;
  const told = isWithdrawal
    ? `and ${subscriber} was not notified that it is withdrawn`
    : acknowledgedVersion === null
      ? `and ${subscriber} has acknowledged none`
      : `and ${subscriber} has acknowledged version ${acknowledgedVersion}`;
  return `${told}; the push is ${describeState(missed)}${lastError ? ` (${lastError})` : ''}.`;
}

function describeCause({ subscriber, state, lastError }: MissedPush): string {
  if (state === null) return `no push was planned for ${subscriber}`;
  const what = state === 'pending' ? 'due and not sent' : describeState({ state, dueAt: null });
  return `pushes to ${subscriber} are ${what}${lastError ? ` (${lastError})` : ''}`;
}

function describeState({ state, dueAt }: Pick<MissedPush, 'state' | 'dueAt'>): string {
  if (state === 'pending') return dueAt === null ? 'pending' : `due at ${dueAt.toISOString()}`;
  return state === 'no endpoint' ? 'parked, because no endpoint is known' : (state ?? '');
}

export function crawledBehind(crawled: CrawledVersion): Suspect {
  const { node, catalogId, entryVersion, appliedEntryVersion, lastCode } = crawled;
  const indexed =
    appliedEntryVersion === null ? 'none of it is in the index' : `the index has ${appliedEntryVersion}`;
  return {
    ...{ kind: 'crawl-behind', catalogId, name: `crawl ${node} ${catalogId}` },
    cause: `the index is behind the files of ${node}${lastCode ? ` (${lastCode})` : ''}`,
    progress: `${entryVersion} ${appliedEntryVersion}`,
    message: `catalog ${catalogId} of ${node} is at entry version ${entryVersion} in its files, and ${indexed}${lastCode ? `: ${lastCode}` : ''}.`,
  };
}

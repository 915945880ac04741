// Troubles: lasting failures that otherwise only the log would show. One function turns the known facts into a list; /ready, the metric, `signpost
// status`, `signpost check` and the console's Health page all show this list.

export const troubleKinds = ['key-not-registered', 'subscription-refused', 'feed-not-in-step'] as const;

export interface Trouble {
  kind: (typeof troubleKinds)[number];
  role: string;
  what: string;
  since: Date;
  next: string;
}

export interface UnregisteredKey {
  role: string;
  subscriberId: string;
  recordId: string;
  publicKey: string;
  problem: string;
  since: Date;
}

export interface FeedState {
  catalogUrl: string;
  /** '' for every network. */
  networkId: string;
  service: string | null;
  subscriptionId: string | null;
  failures: number;
  lastError: string | null;
  /** HTTP status of the last failed step. */
  lastStatus: number | null;
  /** Null while it is in step. */
  outOfStepSince: Date | null;
}

/** A service remembers a missing key for 30 s: a refusal that lasts longer than this needs somebody's help. */
export const refusedMs = 2 * 60_000;
/** A restarted or upgraded catalog service is back sooner. */
export const failingMs = 5 * 60_000;
/** The answer to a pull may take 10 minutes; then the pull is issued again, which counts as a failure. */
export const unfinishedMs = 15 * 60_000;

export function findTroubles(
  { keys, feeds }: { keys: readonly UnregisteredKey[]; feeds: readonly FeedState[] },
  now: Date,
): Trouble[] {
  return [...keys.map(describeKey), ...feeds.flatMap((feed) => findFeedTrouble(feed, now) ?? [])];
}

export function spellTrouble({ what, since, next }: Trouble): string {
  return `${what} Since ${since.toISOString()}. ${next}`;
}

/** Without a delay: the registry has answered that it does not have the key. */
function describeKey({ role, subscriberId, recordId, publicKey, problem, since }: UnregisteredKey): Trouble {
  return {
    ...{ kind: 'key-not-registered', role, since },
    what: `${problem} Others refuse everything that the ${role} role signs.`,
    next: `Register this key there: subscriberId ${subscriberId}, recordId ${recordId}, public key ${publicKey}. For a registry of Signpost, run "signpost registry register ${subscriberId} --key-id ${recordId} --public-key ${publicKey} --url …" there. If another key is registered and is the right one, give that to this process (DATA_DIR/keys).`,
  };
}

const refusals = [401, 403];

function findFeedTrouble(feed: FeedState, now: Date): Trouble | undefined {
  const { catalogUrl, networkId, failures, lastError, lastStatus, outOfStepSince: since } = feed;
  if (since === null) return undefined;
  const lastedMs = now.getTime() - since.getTime();
  const service = `the catalog service at ${catalogUrl}${networkId && `, network ${networkId}`}`;
  const common = { role: 'discovery', since };
  if (lastStatus !== null && refusals.includes(lastStatus)) {
    if (lastedMs < refusedMs) return undefined;
    return {
      ...{ ...common, kind: 'subscription-refused' },
      what: `The discovery service is refused by ${service}: ${sentence(lastError)}`,
      next: 'Check that the registry that the catalog service asks has the key of this discovery service, which "signpost keys list" shows, and that the clocks agree; docs/troubleshooting.md explains the code. Otherwise ask the operator of the catalog service.',
    };
  }
  const kind = 'feed-not-in-step';
  if (failures > 0) {
    if (lastedMs < failingMs) return undefined;
    return {
      ...{ ...common, kind },
      what: `The discovery service is out of sync with ${service}: ${sentence(lastError)}`,
      next: `Check that ${catalogUrl} answers from this machine, and that the catalog service reaches this discovery service at the address in the registry. If it has moved, change DISCOVERY_SUBSCRIPTIONS.`,
    };
  }
  if (lastedMs < unfinishedMs) return undefined;
  return {
    ...{ ...common, kind },
    what: `The discovery service has not yet pulled everything from ${service}.`,
    next: 'Look for "pulled" in the log of the discovery service: a large pull takes time. If nothing is pulled, check that the catalog service reaches this discovery service at the address in the registry.',
  };
}

function sentence(error: string | null): string {
  const text = error ?? 'for an unknown reason';
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

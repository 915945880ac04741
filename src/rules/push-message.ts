import { type Interest, type Matchable, networksFor } from './match.ts';

// Plans the next push to a Discovery Service about a catalog (catalog spec: POST /catalog/push). Level-triggered: one message brings it up to date, whatever happened since its last acknowledgement.

export interface ToldState {
  /** The version of the last acknowledged push, other than a withdrawal; null if there was none. */
  acknowledgedVersion: number | null;
  /** The last push was not acknowledged with 200: it was refused, answered with 202, or not answered. */
  needsFull: boolean;
  /** A push was sent that may have arrived; its outcome is unknown. */
  inFlight: boolean;
  withdrawn: boolean;
  /** The networks that the last acknowledged push named. */
  networks: readonly string[];
}

export interface CatalogState extends Matchable {
  version: number;
  /** The last version that removed something or replaced the whole catalog. */
  fullVersion: number;
  isActive: boolean;
}

export type PushPlan =
  | { kind: 'nothing' }
  | { kind: 'full'; visibleTo: readonly string[] }
  | { kind: 'merge'; visibleTo: readonly string[]; changedAfter: number }
  | Withdrawal;

/** The catalog is inactive, or no longer meant for the Discovery Service, whose copy must not be used. */
export interface Withdrawal {
  kind: 'withdrawal';
  visibleTo: readonly string[];
  /** Later changes are unknown to the Discovery Service and irrelevant for it. */
  knownVersion: number;
  /** Whether it may still see the catalog's own members, because the catalog was deactivated in its networks. */
  isVisible: boolean;
}

/** `interests` are the ACTIVE subscriptions of the Discovery Service. */
export function planPush(told: ToldState, catalog: CatalogState, interests: readonly Interest[]): PushPlan {
  // A subscriber without subscriptions gets nothing, not even the withdrawal of a catalog.
  if (interests.length === 0) return { kind: 'nothing' };
  const { acknowledgedVersion, withdrawn } = told;
  const visibleTo = networksFor(interests, catalog);
  if (visibleTo.length === 0 || !catalog.isActive) {
    const mayHoldIt = told.inFlight || (acknowledgedVersion !== null && !withdrawn);
    if (!mayHoldIt) return { kind: 'nothing' };
    // An empty list is not allowed, and an omitted one would mean the default network. New networks are named only to a subscriber that wants all.
    const asked = interests.flatMap(({ networkIds = [] }) => networkIds);
    const known = [visibleTo, told.networks, asked, catalog.networkIds].find((list) => list.length > 0);
    return {
      kind: 'withdrawal',
      visibleTo: known ?? [],
      knownVersion: acknowledgedVersion ?? 0,
      isVisible: visibleTo.length > 0,
    };
  }
  if (acknowledgedVersion === null || withdrawn || told.needsFull || told.inFlight)
    return { kind: 'full', visibleTo };
  if (catalog.fullVersion > acknowledgedVersion) return { kind: 'full', visibleTo };
  if (catalog.version > acknowledgedVersion)
    return { kind: 'merge', visibleTo, changedAfter: acknowledgedVersion };
  return { kind: 'nothing' };
}

export interface Documents {
  member: 'resources' | 'offers';
  text: string;
  bytes: number;
}

export type Part = Record<Documents['member'], string[]>;

/** Cuts documents into parts of at most `partBytes`; a larger document gets a separate part. */
export function createPartCutter(partBytes: number) {
  let part: Part = { resources: [], offers: [] };
  let bytes = 0;

  const room = () => partBytes - bytes;
  const take = () => {
    const taken = part;
    part = { resources: [], offers: [] };
    bytes = 0;
    return taken;
  };
  return {
    room,
    /** Returns the previous part, finished, if the documents did not fit into it. */
    add(documents: Documents): Part | undefined {
      const finished = bytes > 0 && documents.bytes > room() ? take() : undefined;
      part[documents.member].push(documents.text);
      bytes += documents.bytes;
      return finished;
    },
    /** The part being filled; undefined if it is empty. */
    rest: () => (bytes > 0 ? take() : undefined),
  };
}

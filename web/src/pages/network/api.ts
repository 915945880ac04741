import type { Change } from '../../ui/changes.tsx';

// Answers of the operator's API about the network.

export interface Overview {
  catalogs: number;
  resources: number;
  participants: number;
  subscriptions: number;
  nodes: number;
  deliveries: { waiting: number; parked: number; oldestWaitingAt?: string };
  crawl: { failing: number };
  index: { version: number; resources: number; lagMs?: number };
}

export interface Participant {
  identity: string;
  subscriberId: string;
  registry: string;
  type: string;
  url?: string;
  networks: string[];
  keys: ParticipantKey[];
}

export interface ParticipantKey {
  recordId: string;
  publicKey: string;
  validFrom?: string;
  validUntil?: string;
  state: string;
}

export interface Subscription {
  id: string;
  subscriber: string;
  url?: string;
  networkIds: string[];
  schemaTypes: string[];
  status: string;
  createdAt?: string;
}

export interface Feed {
  catalogUrl: string;
  service?: string;
  networkId: string;
  state: string;
  lastPullAt?: string;
  nextAt?: string;
  lastError?: string;
}

export interface Receiver {
  receiver: string;
  kind: 'push' | 'callback';
  waiting: number;
  parked: number;
  oldestWaitingAt?: string;
  lastAnswer?: { at?: string; status?: number; error?: string };
  nextTryAt?: string;
}

export interface Delivery {
  /** `push-7` or `callback-12`. */
  id: string;
  receiver: string;
  action: string;
  /** A catalogId, or the messageId of a callback. */
  about: string;
  state: string;
  /** `full` or `strict`; missing while nothing was sent. */
  form?: string;
  attempts: number;
  nextTryAt?: string;
  lastError?: string;
}

export interface CrawledNode {
  node: string;
  state: string;
  catalogs: number;
  failing: number;
  lastLookAt?: string;
  nextAt?: string;
  lastCode?: string;
  lastMessage?: string;
}

export interface LogLine {
  id: number;
  node: string;
  catalogId?: string;
  url?: string;
  document?: string;
  code: string;
  message: string;
  hint: string;
  at: string;
  times: number;
}

export interface CatalogSummary {
  catalogId: string;
  name?: string;
  owner: string;
  source: string;
  networks: string[];
  type: string;
  schemaTypes: string[];
  resources: number;
  offers: number;
  /** Unknown of a copy that was pushed or pulled. */
  version?: number;
  updatedAt?: string;
  state: string;
}

export interface CatalogDetails extends CatalogSummary {
  document?: unknown;
  versions: CatalogVersion[];
}

export interface CatalogVersion {
  version: number;
  at: string;
  by?: string;
  messageId?: string;
  status?: string;
}

export interface Difference {
  changes: Change[];
  truncated?: boolean;
  /** How many documents were removed. */
  removed: number;
}

export interface Master {
  catalogId: string;
  owner: string;
  dependents: { catalogId: string; owner: string; networks?: string[] }[];
  dependentCount: number;
}

export interface AuditLine {
  id: number;
  at: string;
  action: string;
  target: string;
  outcome: string;
  from: string;
}

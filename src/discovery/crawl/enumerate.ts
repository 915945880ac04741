import type { Config } from '../../config.ts';
import { addTo } from '../../group.ts';
import { identityOf, isSubscriberId, splitIdentity } from '../../protocol/identity.ts';
import type { ParticipantRecord } from '../../protocol/registry-record.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import { writeLog } from '../../storage/crawl/log.ts';
import { wantMastersOf } from '../../storage/crawl/masters.ts';
import {
  configureSources,
  type NamedNode,
  nameNodes,
  type SourceRow,
  sourceTable,
} from '../../storage/crawl/sources.ts';
import type { Transaction } from '../../storage/database.ts';
import { settlePrecedence } from '../../storage/feeds/precedence.ts';
import { type Claim, settle, startWorkLoop, type WorkLoop } from '../../storage/work/due-work.ts';
import type { CrawlContext } from './context.ts';
import { hostOf, isAddress } from './fetch.ts';
import { readDomain } from './read-node.ts';
import { askRegistry } from './reader.ts';
import { CrawlFault, isReadingFault } from './reasons.ts';
import { longestPollMs, maxEntryDelayMs, nextAttemptMs, nextPollMs } from './schedule.ts';
import { pollingOf } from './settings.ts';
import { lineOf, logFaults } from './tell.ts';

// Finds the nodes to crawl (self-hosted spec: Discovery crawl order, 1): members of the configured networks, by registry query, and configured nodes.

const sourcesAtOnce = 4;

export async function configureCrawl({ config, database, policy }: CrawlContext): Promise<void> {
  const { UNCONFIRMED } = config;
  const settings = {
    sources: sourcesOf(config),
    policy: JSON.stringify({ ...policy, UNCONFIRMED }),
    hideUnconfirmed: UNCONFIRMED === 'hide',
  };
  await database.transaction(async (tx) => settlePrecedence(tx, await configureSources(tx, settings)));
}

/** Each source once, in a normal form: `http://127.1:80` is `http://127.0.0.1`, and a bare domain belongs to REGISTRY_NAME. */
function sourcesOf({ DISCOVERY_NETWORKS, DISCOVERY_NODES, REGISTRY_NAME }: Config) {
  const sources = [
    ...DISCOVERY_NETWORKS.map((name) => ({ kind: 'network', name }) as const),
    ...DISCOVERY_NODES.map((name) =>
      /^https?:/.test(name)
        ? ({ kind: 'address', name: new URL(name).origin } as const)
        : ({ kind: 'subscriber', name: identityOf(name, REGISTRY_NAME) } as const),
    ),
  ];
  return [...new Map(sources.map((source) => [`${source.kind} ${source.name}`, source])).values()];
}

export function startEnumeration(context: CrawlContext): WorkLoop {
  return startWorkLoop<SourceRow>({
    database: context.database,
    table: sourceTable,
    concurrency: sourcesAtOnce,
    longestWaitMs: Math.max(maxEntryDelayMs, longestPollMs(pollingOf(context.config))),
    logger: context.logger,
    handle: (claim, signal) => enumerate(context, claim, signal),
  });
}

async function enumerate(context: CrawlContext, claim: Claim<SourceRow>, signal: AbortSignal): Promise<void> {
  const { database, config, now } = context;
  const polling = pollingOf(config);
  const { kind, name, failures } = claim.row;
  const nextMs = () => nextPollMs(undefined, polling, { now: now(), random: Math.random() });
  try {
    const nodes = await findNodes(context, claim.row, signal);
    await database.transaction(async (tx) => {
      if (kind === 'masters') await settlePrecedence(tx, await wantMastersOf(tx, nodes));
      else await recordNodes(tx, context, claim, nodes);
      await settle(tx, sourceTable, claim, { dueInMs: nextMs(), set: { failures: 0, attempts: 0 } });
    });
  } catch (error) {
    if (!isReadingFault(error)) throw error;
    if (kind === 'address' && error.code === 'manifest-missing') {
      // The node hosts nothing yet, which is no fault, but the operator may have mistyped the address.
      context.logger.info({ name }, 'there is no manifest at this address of DISCOVERY_NODES yet');
      const set = { failures: 0, attempts: 0 };
      return settle(database, sourceTable, claim, { dueInMs: nextMs(), set });
    }
    context.logger.warn({ kind, name, reason: error.message }, 'cannot find out which nodes to crawl');
    const about = { node: kind === 'subscriber' ? name : '' };
    await database.transaction(async (tx) => {
      await logFaults(tx, context, about, [error]);
      const dueInMs = nextAttemptMs(failures + 1, Math.random());
      await settle(tx, sourceTable, claim, { dueInMs, set: { failures: failures + 1, attempts: 0 } });
    });
  }
}

async function recordNodes(
  tx: Transaction,
  context: CrawlContext,
  { id, row }: Claim<SourceRow>,
  nodes: readonly NamedNode[],
): Promise<void> {
  const { vanished, changed } = await nameNodes(tx, id, nodes);
  await settlePrecedence(tx, changed);
  const lines = vanished.map((node) =>
    lineOf(context, { node }, new CrawlFault('node-vanished', `${row.name} no longer names ${node}.`)),
  );
  await writeLog(tx, lines, context.now());
}

async function findNodes(
  context: CrawlContext,
  { kind, name }: SourceRow,
  signal: AbortSignal,
): Promise<NamedNode[]> {
  const { registry, config, reader } = context;
  switch (kind) {
    case 'network':
    case 'masters': {
      const records = await askRegistry(() => registry.queryNetwork(name));
      // Participants write their own records: a name that no registry can look up, or that the database cannot store, must not hide the others.
      const others = records.filter(({ subscriberId }) => !isSubscriberId(subscriberId));
      if (others.length > 0) await tellOthers(context, name, others);
      const lookedUp = records.filter(({ subscriberId }) => isSubscriberId(subscriberId));
      return namedBy(lookedUp, config.REGISTRY_NAME);
    }
    case 'subscriber': {
      const records = await askRegistry(() => registry.findSubscriber(name));
      return [{ node: name, host: hostFor(name, records) }];
    }
    case 'address': {
      const domain = await readDomain(reader, name, { isOperators: true, signal });
      return [{ node: identityOf(domain, config.REGISTRY_NAME), host: hostOf(name), configuredUrl: name }];
    }
  }
}

async function tellOthers(context: CrawlContext, network: string, others: readonly ParticipantRecord[]) {
  const first = JSON.stringify(others[0]?.subscriberId.slice(0, shownNameLength));
  const message = `${others.length} records of ${network} have a subscriber_id that no registry can look up, such as ${first}.`;
  const fault = new TrustFault('record', 'node-unknown', message);
  await logFaults(context.database, context, { node: '' }, [fault]);
}

const shownNameLength = 100;

/** Each node once, whatever its number of keys. Consumers publish nothing. */
function namedBy(records: readonly ParticipantRecord[], registryName: string): NamedNode[] {
  const nodes = new Map<string, ParticipantRecord[]>();
  for (const record of records) {
    if (isConsumer(record)) continue;
    const node = identityOf(record.subscriberId, registryName);
    addTo(nodes, node, record);
  }
  return [...nodes].map(([node, own]) => ({ node, host: hostFor(node, own) }));
}

export function isConsumer({ type }: ParticipantRecord): boolean {
  return type?.toUpperCase() === 'BAP';
}

/** An invalid name is reported when its node is looked up: it must not hide all others. */
export function hostFor(node: string, records: readonly ParticipantRecord[]): string {
  const url = records.find((record) => record.url !== undefined && isAddress(record.url))?.url;
  const { namespace } = splitIdentity(node);
  const base = url ?? `https://${namespace}`;
  return isAddress(base) ? hostOf(base) : namespace;
}

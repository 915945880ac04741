import { type Examination, examineMembership, examineRecords } from '../../discovery/inspect/examine-node.ts';
import type { Finding } from '../../discovery/inspect/findings.ts';
import { identityOf } from '../../protocol/identity.ts';
import type { PublishResult } from '../../protocol/publish-messages.ts';
import { listResults } from '../../storage/catalog/submissions.ts';
import type { KnownCatalog, PushedCopy } from '../../storage/console/subjects.ts';
import type { ChainLink, Issue } from '../answers/inspect.ts';
import type { ConsoleContext } from '../context.ts';
import { buildChain, link } from './chain.ts';

// The chain of a catalog published through a catalog service: registry, membership, publish, stored, push, indexed.

const resultsLookedAt = 10;

export async function linkRegistration(exam: Examination, identity: string): Promise<ChainLink[]> {
  const findings: Finding[] = [];
  const walk = examineRecords(exam, identity);
  let next = await walk.next();
  for (; !next.done; next = await walk.next()) findings.push(next.value);
  const records = next.value;
  if (records.length > 0) {
    const memberships = [...new Set(records.flatMap((record) => record.networkMemberships))];
    for await (const finding of examineMembership(exam, identity, records, memberships))
      findings.push(finding);
  }
  return buildChain(findings, new Map()).filter(({ link: name }) =>
    ['registry', 'membership'].includes(name),
  );
}

export async function linkCatalog(
  { database, config }: Pick<ConsoleContext, 'database' | 'config'>,
  known: KnownCatalog,
  copies: readonly PushedCopy[],
): Promise<{ chain: ChainLink[]; issues: Issue[] }> {
  const { catalogId, owner, stored } = known;
  const results = await listResults(database, catalogId, resultsLookedAt);
  const own = results.filter(({ publisher }) => publisher === owner);
  const latest = own[0] && { ...own[0], result: JSON.parse(own[0].result) as PublishResult };
  const chain = [
    linkPublish(catalogId, latest),
    linkStored(catalogId, known),
    linkPush(catalogId, stored?.version, findOwnCopy(config, copies)),
    linkServed(known, copies),
  ];
  const { errors = [] } = latest?.result ?? {};
  const warnings: { message: string; details?: { path?: string } }[] = JSON.parse(own[0]?.warnings ?? '[]');
  const common = { catalogId, count: 1, lastAt: latest?.acceptedAt.toISOString() };
  const issues = [...errors, ...warnings.map((warning) => ({ ...warning, code: 'warning' }))].map(
    ({ code, message, details }) => ({ ...common, code, message, path: details?.path }),
  );
  return { chain, issues };
}

/** The copy that our discovery service has acknowledged; if it does not follow the service, the first acknowledged one. */
export function findOwnCopy(
  { identities, REGISTRY_NAME }: ConsoleContext['config'],
  copies: readonly PushedCopy[],
): PushedCopy | undefined {
  const own = identityOf(identities.discovery.id, REGISTRY_NAME);
  return copies.find(({ discovery }) => discovery === own) ?? copies[0];
}

interface LatestPublish {
  acceptedAt: Date;
  messageId: string;
  result: PublishResult;
}

function linkPublish(catalogId: string, latest: LatestPublish | undefined): ChainLink {
  if (!latest) return link('publish', 'unseen', 'No publish of it is recorded here.', { catalogId });
  const { acceptedAt, messageId, result } = latest;
  const about = { catalogId, at: acceptedAt.toISOString() };
  const [error] = result.errors ?? [];
  if (result.status === 'ACCEPTED')
    return link('publish', 'ok', `The publish ${messageId} was accepted.`, about);
  const state = result.status === 'PARTIAL' ? 'warning' : 'broken';
  const detail = `The publish ${messageId} ended ${result.status}: ${error?.message ?? 'without a reason'}`;
  const hint = 'Correct what the errors name, and publish it again.';
  return link('publish', state, detail, { ...about, code: error?.code, hint });
}

function linkStored(catalogId: string, { stored, indexed }: KnownCatalog): ChainLink {
  if (!stored) {
    const service = indexed?.source.replace(/^service:/, '');
    return service === undefined
      ? link('stored', 'broken', 'No catalog service of this database has it.', { catalogId })
      : link('stored', 'unseen', `It is kept by ${service}, which has another database.`, { catalogId });
  }
  const { version, type, isActive, visibleTo, resources, offers, updatedAt } = stored;
  const about = { catalogId, at: updatedAt };
  const size = `Version ${version}: ${resources} resources, ${offers} offers, visible in ${visibleTo.join(', ')}.`;
  if (!isActive)
    return link('stored', 'warning', `${size} It is not active.`, {
      ...{ ...about, code: 'paused', hint: 'Publish it with isActive: true.' },
    });
  if (type === 'MASTER')
    return link('stored', 'ok', `${size} Templates, found only through resources that extend them.`, about);
  return link('stored', 'ok', size, about);
}

function linkPush(catalogId: string, version: number | undefined, copy: PushedCopy | undefined): ChainLink {
  if (!copy)
    return link('push', 'warning', 'No discovery service has subscribed to it.', {
      ...{ catalogId, hint: 'Have a discovery service subscribe to one of its networks and schema types.' },
    });
  const { discovery, state, lastError, acknowledgedAt } = copy;
  const about = {
    catalogId,
    expected: `version ${version}`,
    got: copy.version === null ? 'nothing' : `version ${copy.version}`,
    at: acknowledgedAt?.toISOString(),
  };
  if (state === 'acknowledged' && copy.version === version)
    return link('push', 'ok', `${discovery} has acknowledged version ${version}.`, about);
  if (state === 'parked' || state === 'no endpoint')
    return link('push', 'broken', `The push to ${discovery} has failed: ${lastError ?? state}.`, {
      ...{ ...about, code: state === 'parked' ? 'parked' : 'no-endpoint' },
      hint: 'See the deliveries to it, and replay them once it answers again.',
    });
  if (state === 'skipped') {
    const detail = `${discovery} does not get version ${version}: an operator skipped the push.`;
    const hint = 'Publish the catalog again: its next change is pushed whole.';
    return link('push', 'broken', detail, { ...about, code: 'skipped', hint });
  }
  return link('push', 'warning', `The push to ${discovery} is pending: ${lastError ?? state}.`, about);
}

function linkServed({ catalogId, indexed, stored }: KnownCatalog, copies: readonly PushedCopy[]): ChainLink {
  if (!indexed)
    return link('indexed', 'broken', 'The index of this discovery service does not have it.', {
      catalogId,
      hint: 'Check that this discovery service subscribes to the catalog service, and to the networks of the catalog.',
    });
  const { isServed, isActive, type, networks, updatedAt, source } = indexed;
  const about = { catalogId, at: updatedAt };
  if (type === 'MASTER') return link('indexed', 'ok', 'Templates are kept, but not searched.', about);
  if (!isServed || !isActive)
    return link('indexed', 'broken', `It is kept, but ${isActive ? 'not served' : 'not active'}.`, {
      ...{ ...about, hint: 'Publish it with isActive: true, or see which other source provides it.' },
    });
  const where = networks.length === 0 ? 'every network' : networks.join(', ');
  const isBehind =
    stored !== null && copies.length > 0 && copies.every(({ version }) => version !== stored.version);
  const detail = `It is served in ${where}, from ${source}.`;
  return link('indexed', isBehind ? 'warning' : 'ok', detail, about);
}

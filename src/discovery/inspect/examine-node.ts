import { identityOf } from '../../protocol/identity.ts';
import { type ParticipantRecord, unusableReason } from '../../protocol/registry-record.ts';
import type { RegistryClient } from '../../registry/client.ts';
import type { AcceptancePolicy } from '../../rules/self-hosted/acceptance.ts';
import { manifestPlaces, manifestUrlsAt } from '../crawl/places.ts';
import { hostingNode } from '../crawl/read-node.ts';
import { askRegistry, type Reader } from '../crawl/reader.ts';
import { type About, complaint, type Finding, holds, warning } from './findings.ts';
import { readAsCrawler } from './read-as-crawler.ts';
import { type VerifiedNode, verifyNode } from './verify-node.ts';

// A crawler's path to the indexes of a node (self-hosted spec: Discovery crawl order, 1 to 3): registry → manifest → Subscriber record → indexes.

export interface Examination {
  reader: Reader;
  registry: RegistryClient;
  /** The acceptance rules and networks of the simulated crawler. */
  policy: AcceptancePolicy;
  /** Identities of the nodes that it reads regardless of their networks. */
  named: readonly string[];
  now: Date;
  signal: AbortSignal;
}

export interface ExaminedNode extends VerifiedNode {
  networkMemberships: string[];
}

/** @param address given by the user, if any. Returns undefined if no path leads to an index. */
export async function* examineNode(
  exam: Examination,
  identity: string,
  address?: string,
): AsyncGenerator<Finding, ExaminedNode | undefined> {
  const records = yield* examineRecords(exam, identity);
  if (records.length === 0) return undefined;
  const networkMemberships = [...new Set(records.flatMap((record) => record.networkMemberships))];
  yield* examineMembership(exam, identity, records, networkMemberships);

  const url = records.find((record) => record.url !== undefined && URL.canParse(record.url))?.url;
  const [origin, namespace] = manifestPlaces(identity, [url]);
  if (origin === undefined) {
    const message = `${identity} has no url in the registry; its namespace is not a host.`;
    yield complaint('fault', { document: 'registry' }, 'bad-url', message);
    return undefined;
  }
  if (address !== undefined && new URL(address).origin !== origin) {
    const about: About = { document: 'registry', url: address };
    yield warning(about, 'other-address', `The registry says that ${identity} is at ${origin}.`);
  }
  const { reader, now, signal } = exam;
  const node = hostingNode(reader, identity, records);
  const source = {
    ...{ host: new URL(origin).host, indexUrls: [] },
    manifestUrls: manifestUrlsAt(origin),
    otherManifestUrls: namespace === undefined ? undefined : manifestUrlsAt(namespace),
  };
  const standIn = reader.requireManifest ? undefined : listedIn(records);
  const chain = readAsCrawler(reader, signal);
  const verified = yield* verifyNode({ source, reader: chain, node, now, standIn });
  if (verified === undefined) return undefined;
  yield* examineListing(records, verified.indexUrls);
  return { ...verified, networkMemberships };
}

/** Returns the usable ones. */
export async function* examineRecords(
  { registry, now }: Pick<Examination, 'registry' | 'now'>,
  identity: string,
): AsyncGenerator<Finding, ParticipantRecord[]> {
  const about: About = { document: 'registry' };
  const all = await askRegistry(() => registry.listRecords(identity));
  const usable = all.filter((record) => unusableReason(record, now) === undefined);
  const names = usable.map(({ recordId }) => recordId).join(', ');
  if (all.length === 0) {
    yield complaint('fault', about, 'node-unknown', `The registry has no record of ${identity}.`);
  } else if (usable.length === 0) {
    const reasons = all.map((record) => `${record.recordId}: ${unusableReason(record, now)}`);
    const message = `No key of ${identity} can be used: ${reasons.join('; ')}.`;
    yield complaint('fault', about, 'key-unusable', message);
  } else {
    const [{ url } = { url: undefined }] = usable;
    const place = url === undefined ? 'without an address' : `at ${url}`;
    yield holds(about, `${identity} is registered ${place}, with ${names}`);
  }
  return usable;
}

/** A query only finds nodes, but nobody looks for a node that it does not return. */
export async function* examineMembership(
  { registry, policy, named }: Pick<Examination, 'registry' | 'policy' | 'named'>,
  identity: string,
  records: readonly ParticipantRecord[],
  memberships: readonly string[],
): AsyncGenerator<Finding> {
  const about: About = { document: 'network' };
  if (records.every(({ type }) => type?.toUpperCase() === 'BAP'))
    yield complaint('fault', about, 'consumer', `${identity} is registered as a BAP.`);
  if (named.includes(identity)) return yield holds(about, 'named by the settings (DISCOVERY_NODES)');
  if (policy.networkIds.length === 0) {
    const [first] = memberships;
    yield first === undefined
      ? warning(about, 'no-network', `${identity} is a member of no network.`)
      : holds(about, `member of ${memberships.join(', ')}`);
    return;
  }
  const naming: string[] = [];
  for (const networkId of policy.networkIds) {
    const members = await askRegistry(() => registry.queryNetwork(networkId));
    const identities = members.map(({ subscriberId }) => identityOf(subscriberId, policy.registryName));
    if (identities.includes(identity)) naming.push(networkId);
  }
  if (naming.length > 0) yield holds(about, `member of ${naming.join(', ')}`);
  else {
    const message = `The registry does not name ${identity} as a member of ${policy.networkIds.join(' or ')}.`;
    yield complaint('fault', about, 'not-in-network', message);
  }
}

function* examineListing(records: readonly ParticipantRecord[], indexUrls: readonly string[]) {
  const listed = listedIn(records);
  const unlisted = indexUrls.filter((url) => !listed.includes(url));
  if (unlisted.length === 0) return;
  const message = `The registry's own record does not list ${unlisted.join(', ')}.`;
  yield warning({ document: 'registry' }, 'registry-unlisted', message);
}

function listedIn(records: readonly ParticipantRecord[]): string[] {
  return [...new Set(records.flatMap(({ catalogIndexUrls }) => catalogIndexUrls))];
}

import { counted } from '../../counted.ts';
import type { CatalogType, Resource } from '../../protocol/catalog.ts';
import type { IndexEntry } from '../../protocol/signed-files.ts';
import type { Template } from '../../rules/extends.ts';
import { createInheritanceBudget } from '../../rules/inherited-bytes.ts';
import { judgeEntry } from '../../rules/self-hosted/acceptance.ts';
import type { CatalogContent } from '../../rules/self-hosted/content.ts';
import { boundTemplates, conforming, extendTemplate } from '../../rules/self-hosted/extend.ts';
import type { HostingNode } from '../../rules/self-hosted/signer.ts';
import type { TrustedEntry } from '../../rules/self-hosted/trust-index.ts';
import { isValidAt } from '../../rules/time-period.ts';
import { type ContentReading, readContent } from '../crawl/read-content.ts';
import type { Examination, ExaminedNode } from './examine-node.ts';
import { type About, complaint, type Finding, fault, holds } from './findings.ts';
import type { MasterSearch } from './masters.ts';

/** Whether a catalog appears for a new crawler (self-hosted spec: Discovery crawl order, 5), or the first obstacle. */
export async function examineCatalog(
  exam: Examination,
  { node, networkMemberships }: ExaminedNode,
  trusted: TrustedEntry,
  masters: MasterSearch,
): Promise<Finding[]> {
  const { entry } = trusted;
  const { catalogId, retiredAt, networkIds = [], entryVersion } = entry;
  const about: About = {
    document: 'catalog',
    catalogId,
    key: trusted.signedBy,
    entryVersion,
    files: [...(entry.baseline ? [entry.baseline] : []), ...entry.changes].map(({ url }) => url),
  };
  const hidden = (code: 'retired' | 'paused' | 'not-valid', message: string) =>
    complaint('hidden', about, code, message);
  if (retiredAt !== undefined) return [hidden('retired', `${catalogId} was retired at ${retiredAt}.`)];

  const acceptance = judgeEntry(entry, { identity: node.identity, networkMemberships }, exam.policy);
  if (acceptance.kind !== 'accepted') {
    const kind = acceptance.kind === 'not-relevant' ? 'hidden' : 'fault';
    return [complaint(kind, about, acceptance.kind, acceptance.reason)];
  }
  const findings: Finding[] = [];
  try {
    const reading = await readWhole(exam, node, trusted);
    const { content } = reading;
    findings.push(...(await examineMasters(exam, entry, reading, masters)));
    if (findings.some(({ kind }) => kind === 'fault')) return findings;
    const { validity } = content.members;
    if (!entry.isActive) return [...findings, hidden('paused', `${catalogId} is paused.`)];
    if (!isValidAt(validity, exam.now)) {
      const { startDate = '', endDate = '' } = validity ?? {};
      const message = `${catalogId} is valid only at other times: ${startDate} to ${endDate}.`;
      return [...findings, hidden('not-valid', message)];
    }
    return [...findings, holds(about, appearance(entry.catalogType, content, networkIds), content.version)];
  } catch (error) {
    return [...findings, fault(about, error)];
  }
}

/** Reads the catalog like a crawler without an earlier version; throws the first fault. */
async function readWhole({ reader, signal }: Examination, node: HostingNode, trusted: TrustedEntry) {
  const reading = await readContent(reader, node, trusted, undefined, signal);
  const [first] = reading.faults;
  if (first) throw first;
  if (reading.kind !== 'full') throw new Error('a reader that holds nothing reads a baseline or fails');
  return reading;
}

type WholeReading = Extract<ContentReading, { kind: 'full' }>;

/** Its masters must exist, and the assembled resources must conform to their domain schema. */
async function examineMasters(
  { reader }: Examination,
  entry: IndexEntry,
  reading: WholeReading,
  masters: MasterSearch,
): Promise<Finding[]> {
  const { content } = reading;
  const { catalogId } = entry;
  const about: About = { document: 'catalog', catalogId };
  if (content.directives.size === 0) return [];
  const { found, missing, warnings } = await masters(entry, content);
  const templates = new Map([...found].map(([id, resource]) => [id, templateOf(resource)]));
  if (missing.length > 0) {
    const message = `${catalogId} extends resources that are in no MASTER catalog of a node that can be found: ${missing.join(', ')}. Discovery services that have it from a catalog service still serve it.`;
    return [...warnings, complaint('fault', about, 'waiting-for-master', message)];
  }
  const extending = [...content.directives].flatMap(([id, { resourceId: _id, ...extension }]) => {
    const own = content.resources.get(id);
    const template = templates.get(extension.extends.masterResourceId);
    return own && template ? [{ own, extension, template }] : [];
  });
  // Inherited bytes of the node's other catalogs are unknown here.
  const budget = createInheritanceBudget(reader.limits.inherited, { catalog: 0, publish: 0, publisher: 0 });
  const excess = boundTemplates(extending, budget);
  if (excess !== undefined) {
    const message = `${catalogId} inherits too much: ${excess}.`;
    return [...warnings, complaint('fault', about, 'inherits-too-much', message)];
  }
  for (const one of extending) {
    const content = found.get(one.template.id);
    if (content) conforming(extendTemplate(one, content), 'baseline', reader.checker());
  }
  return warnings;
}

/** It is not stored: only its size counts. */
function templateOf(content: Resource): Template {
  const bytes = Buffer.byteLength(JSON.stringify(content));
  return { id: content.id, catalogKey: 0, version: 0, edition: 0, bytes };
}

function appearance(type: CatalogType, content: CatalogContent, networkIds: readonly string[]): string {
  const { version, resources, offers } = content;
  const where = networkIds.length === 0 ? 'every network' : networkIds.join(', ');
  const size = `version ${version}: ${counted(resources.size, 'resource')}, ${counted(offers.size, 'offer')}`;
  return type === 'MASTER'
    ? `${size}; templates, which are found only through resources that extend them in ${where}`
    : `${size}; appears in ${where}`;
}

import { setImmediate } from 'node:timers/promises';
import type { Resource } from '../../protocol/catalog.ts';
import type { FileDirective } from '../../protocol/signed-files.ts';
import { type Check, checkResource } from '../../rules/check-attributes.ts';
import {
  type ExtendedResource,
  type Extender,
  extendTemplate,
  findHostedTemplate,
} from '../../rules/self-hosted/extend.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import {
  findExtensions,
  findRepeatedVariant,
  holdTemplates,
  writeExtensions,
} from '../../storage/crawl/extensions.ts';
import type { TargetRow } from '../../storage/crawl/targets.ts';
import type { Transaction } from '../../storage/database.ts';
import type { ContentReading } from './read-content.ts';
import { CrawlFault } from './reasons.ts';

// What a catalog becomes with what it inherits: its resources are served in their assembled form, and checked in it. Without all of its
// templates, a catalog is not served at all: it waits for them.

export type Applicable = Exclude<ContentReading, { kind: 'rollback' }>;

/** The resources of a reading that extend others, by their ids. */
export function extendingOf(reading: Applicable): ReadonlyMap<string, FileDirective> {
  if (reading.kind === 'nothing') return new Map();
  return (reading.kind === 'full' ? reading.content : reading.patch).directives;
}

export type Assembly =
  | { kind: 'assembled'; reading: Applicable; extended: ExtendedResource[] }
  /** The master resources that are not there. */
  | { kind: 'waiting'; missing: string[] };

/** Holds the templates as they are until the transaction ends. */
export async function assembleReading(
  tx: Transaction,
  targetId: number,
  reading: Applicable,
  { extender, checker }: { extender: Extender; checker: Check },
): Promise<Assembly> {
  const directives = extendingOf(reading);
  if (directives.size === 0 || reading.kind === 'nothing')
    return { kind: 'assembled', reading, extended: [] };
  const masterIds = new Set([...directives.values()].map((directive) => directive.extends.masterResourceId));
  const stored = await findExtensions(tx, targetId, [...directives.keys()]);
  const formerKeys = new Set([...stored.values()].map(({ template }) => template.catalogKey));
  const templates = await holdTemplates(tx, [...masterIds], [...formerKeys]);

  const resources = reading.kind === 'full' ? reading.content.resources : reading.patch.resources.upserts;
  const extended: ExtendedResource[] = [];
  const missing = new Set<string>();
  let done = 0;
  for (const [id, directive] of directives) {
    const own = resources.get(id);
    const { masterResourceId } = directive.extends;
    const candidates = templates.get(masterResourceId) ?? [];
    const template = findHostedTemplate(masterResourceId, candidates, extender, stored.get(id));
    if (template === undefined) missing.add(masterResourceId);
    else if (own) extended.push(conforming(extendTemplate(own, directive, template), reading, checker));
    done += 1;
    if (done % resourcesAtOnce === 0) await setImmediate();
  }
  if (missing.size > 0) return { kind: 'waiting', missing: [...missing] };
  return { kind: 'assembled', reading: withAssembled(reading, extended), extended };
}

/** Then others get their turn. */
const resourcesAtOnce = 500;

/** "A file fails the domain schema check: discard; never partially apply" (self-hosted spec: Errors). */
export function conforming(
  extended: ExtendedResource,
  reading: Applicable,
  checker: Check,
): ExtendedResource {
  const { assembled, extension } = extended;
  const [first] = checkResource(assembled, checker, { brief: true });
  if (first === undefined) return extended;
  throw new TrustFault(
    fileOf(reading),
    'schema-violation',
    `With what it inherits of ${extension.extends.masterResourceId}, ${assembled.id} does not conform to its domain schema: ${first.message}.`,
  );
}

function withAssembled(reading: Applicable, extended: readonly ExtendedResource[]): Applicable {
  const assembled = (resources: ReadonlyMap<string, Resource>) => {
    const served = new Map(resources);
    for (const resource of extended) served.set(resource.own.id, resource.assembled);
    return served;
  };
  switch (reading.kind) {
    case 'nothing':
      return reading;
    case 'full':
      return { ...reading, content: { ...reading.content, resources: assembled(reading.content.resources) } };
    case 'patch': {
      const { resources } = reading.patch;
      const upserts = assembled(resources.upserts);
      return { ...reading, patch: { ...reading.patch, resources: { ...resources, upserts } } };
    }
  }
}

/** Keeps what was published of the resources that extend others, so that they can be assembled anew. */
export async function recordExtensions(
  tx: Transaction,
  target: Pick<TargetRow, 'id' | 'version'>,
  reading: Applicable,
  extended: readonly ExtendedResource[],
): Promise<void> {
  const hasNone = target.version === null && extended.length === 0;
  if (hasNone || reading.kind === 'nothing') return;
  const changed =
    reading.kind === 'full'
      ? undefined
      : [...reading.patch.resources.removals, ...reading.patch.resources.upserts.keys()];
  await writeExtensions(tx, target.id, changed, extended);
  const repeated = extended.length > 0 ? await findRepeatedVariant(tx, target.id) : undefined;
  if (repeated === undefined) return;
  const message = `The variant of ${repeated} is that of another resource of the catalog, too.`;
  throw new TrustFault(fileOf(reading), 'bad-directive', message);
}

/** Which of the files is at fault is not known: the one that it began with is named. */
function fileOf({ kind }: Applicable): 'baseline' | 'change' {
  return kind === 'full' ? 'baseline' : 'change';
}

/** Where resources have other values than their templates, which stand; one line, however many they are. */
export function overriddenFault(catalogId: string, extended: readonly ExtendedResource[]): CrawlFault[] {
  const overriding = extended.filter(({ overridden }) => overridden.length > 0);
  if (overriding.length === 0) return [];
  const shown = overriding
    .slice(0, maxShown)
    .map(({ own, overridden }) => `${own.id} (${overridden.slice(0, maxShown).join(', ')})`);
  const more = overriding.length > maxShown ? ` and ${overriding.length - maxShown} more` : '';
  const message = `Resources of ${catalogId} have other values than their templates, whose values stand: ${shown.join(', ')}${more}.`;
  return [new CrawlFault('master-overridden', message)];
}

const maxShown = 3;

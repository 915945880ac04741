import { createBreaks } from '../../breaks.ts';
import type { Check } from '../../rules/check-attributes.ts';
import { contentOf, type StoredExtension, type Template } from '../../rules/extends.ts';
import { batchesOf, createInheritanceBudget, type InheritanceLimits } from '../../rules/inherited-bytes.ts';
import {
  boundTemplates,
  conforming,
  type ExtendedResource,
  type Extender,
  type ExtendingResource,
  extendTemplate,
  findHostedTemplate,
} from '../../rules/self-hosted/extend.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import {
  findRepeatedVariant,
  holdTemplates,
  inheritedTable,
  sumInherited,
  writeExtensions,
} from '../../storage/crawl/extensions.ts';
import type { TargetRow } from '../../storage/crawl/targets.ts';
import type { Transaction } from '../../storage/database.ts';
import { changeUses, findExtensions, readTemplates, sumUses } from '../../storage/inherited.ts';
import type { ContentReading } from './read-content.ts';
import { CrawlFault } from './reasons.ts';

// Assembles catalogs with inherited content. A catalog waits until all templates are there, and is not served if they are too large, which is
// known before they are read.

export type Applicable = Exclude<ContentReading, { kind: 'rollback' }>;

export type Assembly = Inheriting | { kind: 'waiting'; missing: string[] };

/** All templates are there, and within the limits. */
export interface Inheriting {
  kind: 'inheriting';
  extending: ExtendingResource[];
  /** Templates of the resources that the reading replaces. */
  former: Template[];
  /** Increase of the bytes that its node inherits. */
  growth: number;
}

/**
 * Finds the templates, and locks them until the transaction ends. Throws if they are too large.
 *
 * @param grown increase of the node's inherited bytes in the same transaction
 */
export async function findTemplates(
  tx: Transaction,
  row: Pick<TargetRow, 'id' | 'catalog_id' | 'inherited_bytes'>,
  reading: Applicable,
  { extender, limits, grown }: { extender: Extender; limits: InheritanceLimits; grown: number },
): Promise<Assembly> {
  const { directives, resources } = reading.content;
  const changed = changedBy(reading);
  const before = changed ?? [...directives.keys()];
  const hasInherited = row.inherited_bytes > 0 && before.length > 0;
  const stored = hasInherited
    ? await findExtensions(tx, inheritedTable, row.id, before)
    : new Map<string, StoredExtension>();
  const former = changed ? [...stored.values()].map(({ template }) => template) : [];
  if (directives.size === 0) return { kind: 'inheriting', extending: [], former, growth: 0 };
  const masterIds = new Set([...directives.values()].map((directive) => directive.extends.masterResourceId));
  const formerKeys = new Set([...stored.values()].map(({ template }) => template.catalogKey));
  const templates = await holdTemplates(tx, [...masterIds], [...formerKeys]);

  const extending: ExtendingResource[] = [];
  const missing = new Set<string>();
  for (const [id, { resourceId: _id, ...extension }] of directives) {
    const own = resources.get(id);
    const { masterResourceId } = extension.extends;
    const candidates = templates.get(masterResourceId) ?? [];
    const template = findHostedTemplate(masterResourceId, candidates, extender, stored.get(id));
    if (template === undefined) missing.add(masterResourceId);
    else if (own) extending.push({ own, extension, template });
  }
  if (missing.size > 0) return { kind: 'waiting', missing: [...missing] };
  const { catalog, publisher } = await sumInherited(tx, row.id);
  const gone = changed ? sumBytes(former) : catalog;
  const start = { catalog: catalog - gone, publish: 0, publisher: publisher + grown - gone };
  const budget = createInheritanceBudget(limits, start);
  const excess = boundTemplates(extending, budget, stored);
  if (excess !== undefined)
    throw new CrawlFault('inherits-too-much', `${row.catalog_id} inherits too much: ${excess}.`);
  const growth = budget.used.publisher - (publisher + grown);
  return { kind: 'inheriting', extending, former, growth };
}

export function sumBytes(templates: readonly Template[]): number {
  return templates.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** The resources that a reading writes or removes; undefined: all of them. */
function changedBy({ kind, content, removals }: Applicable): string[] | undefined {
  return kind === 'full' ? undefined : [...removals.resources, ...content.resources.keys()];
}

/** Resources with inherited content, in batches, because all together may not fit into memory. */
export async function* assembleBatches(
  tx: Transaction,
  targetId: number,
  reading: Applicable,
  extending: readonly ExtendingResource[],
  checker: Check,
): AsyncGenerator<ExtendedResource[], undefined> {
  const takeBreak = createBreaks();
  for (const batch of batchesOf(extending, ({ template }) => template.bytes)) {
    const templates = batch.map(({ template }) => template);
    const contents = await readTemplates(tx, inheritedTable, targetId, templates);
    const extended: ExtendedResource[] = [];
    for (const one of batch) {
      const assembled = extendTemplate(one, contentOf(one.template, contents));
      extended.push(conforming(assembled, fileOf(reading), checker));
      await takeBreak();
    }
    yield extended;
  }
}

/** The reading with these resources in assembled form, without later ones. */
export function withAssembled(
  reading: Applicable,
  extended: readonly ExtendedResource[],
  later: ReadonlySet<string>,
): Applicable {
  const resources = new Map(reading.content.resources);
  for (const resource of extended) resources.set(resource.own.id, resource.assembled);
  for (const id of later) resources.delete(id);
  return { ...reading, content: { ...reading.content, resources } } as Applicable;
}

/** Keeps the published form of extending resources, so that they can be assembled again. */
export async function recordExtensions(
  tx: Transaction,
  target: Pick<TargetRow, 'id' | 'version' | 'inherited_bytes'>,
  reading: Applicable,
  { extending, former }: Inheriting,
): Promise<void> {
  const hasNone = target.version === null && extending.length === 0;
  if (hasNone || reading.kind === 'nothing') return;
  const changed = changedBy(reading);
  await writeExtensions(tx, target.id, changed, extending);
  const added = extending.map(({ template }) => template);
  const isWhole = changed === undefined && target.inherited_bytes > 0;
  await changeUses(tx, inheritedTable, target.id, sumUses(added, former), { isWhole });
  const repeated = extending.length > 0 ? await findRepeatedVariant(tx, target.id) : undefined;
  if (repeated === undefined) return;
  const message = `The variant of ${repeated} is also that of another resource of the catalog.`;
  throw new TrustFault(fileOf(reading), 'bad-directive', message);
}

/** The faulty file is unknown: names the first kind that was read. */
function fileOf({ kind }: Applicable): 'baseline' | 'change' {
  return kind === 'full' ? 'baseline' : 'change';
}

export interface Overriding {
  id: string;
  /** The first paths, as JSONPaths. */
  paths: string[];
}

export function overridingOf(extended: readonly ExtendedResource[]): Overriding[] {
  return extended
    .filter(({ overridden }) => overridden.length > 0)
    .map(({ own, overridden }) => ({ id: own.id, paths: overridden.slice(0, maxShown) }));
}

/** Reports in one line that resources have other values than their templates, whose values win. */
export function overriddenFault(catalogId: string, overriding: readonly Overriding[]): CrawlFault[] {
  if (overriding.length === 0) return [];
  const shown = overriding.slice(0, maxShown).map(({ id, paths }) => `${id} (${paths.join(', ')})`);
  const more = overriding.length > maxShown ? ` and ${overriding.length - maxShown} more` : '';
  const message = `Resources of ${catalogId} differ from their templates, whose values are used: ${shown.join(', ')}${more}.`;
  return [new CrawlFault('master-overridden', message)];
}

const maxShown = 3;

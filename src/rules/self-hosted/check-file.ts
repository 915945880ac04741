import type { Offer, Provider, Resource } from '../../protocol/catalog.ts';
import type { ErrorBody } from '../../protocol/errors.ts';
import type { BaselineFile, ChangeFile, FileDirective, IndexEntry } from '../../protocol/signed-files.ts';
import {
  type Check,
  checkGeometries,
  checkOffer,
  checkProvider,
  checkResource,
} from '../check-attributes.ts';
import { variantKey } from '../extends.ts';
import { type HostedDocument, TrustFault, type TrustFaultCode } from './faults.ts';
import { type HostingNode, namesNode } from './signer.ts';

// Whether the content of a genuine file is sound: ids, directives, owner, typed attributes. "A file fails the domain schema check: discard; never partially apply" (self-hosted spec: Errors), so the
// first fault ends it. A resource that extends another, and a template, may lack what their schema requires.
//
// The checks are generators, which pause now and then: a large file must not stop everything else. Geometries are checked where the file is verified, because one of them may take tenths of a second.

interface FileContext {
  node: HostingNode;
  entry: Pick<IndexEntry, 'catalogType' | 'catalogId'>;
  checker: Check;
}

export type Steps<T = void> = Generator<void, T, void>;

export function inOne<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

const itemsPerStep = 500;

export function* checkFile(file: BaselineFile | ChangeFile, context: FileContext): Steps {
  const content = contentOf(file);
  if ('fromVersion' in file) checkChange(file);
  else if (content.resources.length + content.offers.length === 0)
    throw fault('baseline', 'empty-catalog', 'has neither a resource nor an offer');
  yield* checkContent(context, content);
}

function checkChange({ catalogId, catalog = {}, resources, offers }: ChangeFile): void {
  const { id = catalogId } = catalog as { id?: unknown };
  if (id !== catalogId)
    throw fault('change', 'catalog-mismatch', `of ${catalogId} changes the id of its catalog to ${id}`);
  const list = ['resources', 'offers'].find((name) => Object.hasOwn(catalog, name));
  if (list !== undefined) {
    const problem = `changes the member ${list} of its catalog, which is not one of its level`;
    throw fault('change', 'malformed', problem);
  }
  requireUnique('change', 'removal', resources.removals);
  requireUnique('change', 'removal', offers.removals);
}

export function checkFileGeometries(file: BaselineFile | ChangeFile): void {
  const { kind, provider, resources, offers, at, lists } = contentOf(file);
  if (provider) requireConforming(kind, checkGeometries(provider, { at: providerAt }));
  for (const [index, resource] of resources.entries())
    requireConforming(kind, checkGeometries(resource, { at: [...at, 'resources', ...lists, index] }));
  for (const [index, offer] of offers.entries())
    requireConforming(kind, checkGeometries(offer, { at: [...at, 'offers', ...lists, index] }));
}

const providerAt = ['catalog', 'provider'];

function contentOf(file: BaselineFile | ChangeFile): Content {
  const { directives = [] } = file;
  if ('fromVersion' in file) {
    const { catalog: { provider, bppId } = {}, resources, offers } = file;
    const upserts = { resources: resources.upserts, offers: offers.upserts };
    return { kind: 'change', provider, bppId, ...upserts, directives, at: [], lists: ['upserts'] };
  }
  const { provider, bppId, resources = [], offers = [] } = file.catalog;
  return { kind: 'baseline', provider, bppId, resources, offers, directives, at: ['catalog'], lists: [] };
}

interface Content {
  kind: 'baseline' | 'change';
  provider: Provider | undefined;
  bppId: string | undefined;
  resources: readonly Resource[];
  offers: readonly Offer[];
  directives: readonly FileDirective[];
  /** Where the lists are in the file: below a name each, and below this one there. */
  at: readonly string[];
  lists: readonly string[];
}

function* checkContent({ node, entry, checker }: FileContext, content: Content): Steps {
  const { kind, provider, bppId, resources, offers, directives, at, lists } = content;
  const isMaster = entry.catalogType === 'MASTER';
  if (bppId !== undefined && !namesNode(bppId, node)) {
    throw fault(kind, 'foreign-owner', `names ${bppId} as its bppId, which is not ${node.identity}`);
  }
  if (isMaster && offers.length > 0)
    throw fault(kind, 'master-with-offers', 'has offers in a MASTER catalog');
  const [resourceIds, offerIds] = [resources.map(({ id }) => id), offers.map(({ id }) => id)];
  requireUnique(kind, 'resource', resourceIds);
  requireUnique(kind, 'offer', offerIds);
  const extending = checkDirectives(kind, directives, new Set(resourceIds), isMaster);

  const skipsGeometries = true;
  if (provider)
    requireConforming(kind, checkProvider(provider, checker, { at: providerAt, skipsGeometries }));
  for (const [index, resource] of resources.entries()) {
    const partial = isMaster || extending.has(resource.id);
    const place = [...at, 'resources', ...lists, index];
    requireConforming(kind, checkResource(resource, checker, { at: place, partial, skipsGeometries }));
    if (index % itemsPerStep === itemsPerStep - 1) yield;
  }
  for (const [index, offer] of offers.entries()) {
    const place = [...at, 'offers', ...lists, index];
    requireConforming(kind, checkOffer(offer, checker, { at: place, skipsGeometries }));
    if (index % itemsPerStep === itemsPerStep - 1) yield;
  }
}

/** Returns the ids of the resources that extend a master's. */
function checkDirectives(
  kind: HostedDocument,
  directives: readonly FileDirective[],
  held: ReadonlySet<string>,
  isMaster: boolean,
): Set<string> {
  if (isMaster && directives.length > 0)
    throw fault(kind, 'bad-directive', 'has directives in a MASTER catalog');
  const extending = new Set<string>();
  const variants = new Set<string>();
  for (const { resourceId, ...extension } of directives) {
    const refuse = (problem: string) => fault(kind, 'bad-directive', problem);
    if (!held.has(resourceId))
      throw refuse(`has a directive for ${resourceId}, which is not among its resources`);
    if (extending.has(resourceId)) throw refuse(`has two directives for ${resourceId}`);
    extending.add(resourceId);
    const variant = variantKey(extension);
    if (variant === undefined) continue;
    if (variants.has(variant)) throw refuse(`has the variant of ${resourceId} twice`);
    variants.add(variant);
  }
  return extending;
}

function requireUnique(kind: HostedDocument, what: string, ids: readonly string[]): void {
  const seen = new Set<string>();
  for (const id of ids) {
    if (seen.has(id)) throw fault(kind, 'duplicate-id', `has the ${what} ${id} twice`);
    seen.add(id);
  }
}

function requireConforming(kind: HostedDocument, [first]: ErrorBody[]): void {
  if (first === undefined) return;
  throw fault(kind, 'schema-violation', `does not conform: ${first.message}`);
}

function fault(kind: HostedDocument, code: TrustFaultCode, problem: string): TrustFault {
  return new TrustFault(kind, code, `The ${kind} ${problem}.`);
}

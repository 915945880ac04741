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

// Whether the content of a genuine file is sound: ids, directives, owner, typed attributes. "A file fails the domain schema check:
// discard; never partially apply" (self-hosted spec: Errors), so the first fault ends it. What a resource inherits is not
// known here: a resource that extends another, and a template, may lack what their schema requires.
//
// The checks are generators, which pause now and then: a large file must not stop everything else. Geometries are checked before, where the file is verified, because one of them alone may
// take tenths of a second.

export interface FileContext {
  node: HostingNode;
  entry: Pick<IndexEntry, 'catalogType' | 'catalogId'>;
  checker: Check;
}

export type Steps<T = void> = Generator<void, T, void>;

/** All at once. */
export function inOne<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

const itemsPerStep = 500;

export function* checkBaseline(file: BaselineFile, context: FileContext): Steps {
  const content = contentOfBaseline(file);
  if (content.resources.length + content.offers.length === 0) {
    throw fault('baseline', 'empty-catalog', 'holds neither a resource nor an offer');
  }
  yield* checkContent('baseline', context, content);
}

export function* checkChange(file: ChangeFile, context: FileContext): Steps {
  const { catalog = {}, resources, offers } = file;
  const { id = file.catalogId } = catalog as { id?: unknown };
  if (id !== file.catalogId) {
    throw fault('change', 'catalog-mismatch', `of ${file.catalogId} changes the id of its catalog to ${id}`);
  }
  for (const name of ['resources', 'offers']) {
    if (Object.hasOwn(catalog, name)) {
      throw fault(
        'change',
        'malformed',
        `changes the member ${name} of its catalog, which is not one of its level`,
      );
    }
  }
  requireUnique('change', 'removal', [...resources.removals]);
  requireUnique('change', 'removal', [...offers.removals]);
  yield* checkContent('change', context, contentOfChange(file));
}

export function checkBaselineGeometries(file: BaselineFile): void {
  checkAllGeometries('baseline', contentOfBaseline(file));
}

export function checkChangeGeometries(file: ChangeFile): void {
  checkAllGeometries('change', contentOfChange(file));
}

function checkAllGeometries(kind: HostedDocument, { provider, resources, offers, at, lists }: Content): void {
  if (provider) requireConforming(kind, checkGeometries(provider, { at: providerAt }));
  for (const [index, resource] of resources.entries())
    requireConforming(kind, checkGeometries(resource, { at: [...at, 'resources', ...lists, index] }));
  for (const [index, offer] of offers.entries())
    requireConforming(kind, checkGeometries(offer, { at: [...at, 'offers', ...lists, index] }));
}

const providerAt = ['catalog', 'provider'];

function contentOfBaseline({ catalog, directives = [] }: BaselineFile): Content {
  const { provider, bppId, resources = [], offers = [] } = catalog;
  return { provider, bppId, resources, offers, directives, at: ['catalog'], lists: [] };
}

function contentOfChange({ catalog = {}, resources, offers, directives = [] }: ChangeFile): Content {
  const { provider, bppId } = catalog;
  const upserts = { resources: resources.upserts, offers: offers.upserts };
  return { provider, bppId, ...upserts, directives, at: [], lists: ['upserts'] };
}

interface Content {
  provider: Provider | undefined;
  bppId: string | undefined;
  resources: readonly Resource[];
  offers: readonly Offer[];
  directives: readonly FileDirective[];
  /** Where the lists are in the file: below a name each, and below this one there. */
  at: readonly string[];
  lists: readonly string[];
}

function* checkContent(kind: HostedDocument, { node, entry, checker }: FileContext, content: Content): Steps {
  const { provider, bppId, resources, offers, directives, at, lists } = content;
  const isMaster = entry.catalogType === 'MASTER';
  if (bppId !== undefined && !namesNode(bppId, node)) {
    throw fault(kind, 'foreign-owner', `names ${bppId} as its bppId, which is not ${node.identity}`);
  }
  if (isMaster && offers.length > 0)
    throw fault(kind, 'master-with-offers', 'has offers in a MASTER catalog');
  requireUnique(
    kind,
    'resource',
    resources.map(({ id }) => id),
  );
  requireUnique(
    kind,
    'offer',
    offers.map(({ id }) => id),
  );
  const extending = checkDirectives(kind, directives, resources, isMaster);

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
  resources: readonly Resource[],
  isMaster: boolean,
): Set<string> {
  if (isMaster && directives.length > 0)
    throw fault(kind, 'bad-directive', 'has directives in a MASTER catalog');
  const held = new Set(directives.length > 0 ? resources.map(({ id }) => id) : []);
  const extending = new Set<string>();
  const variants = new Set<string>();
  for (const { resourceId, ...extension } of directives) {
    if (!held.has(resourceId)) {
      throw fault(
        kind,
        'bad-directive',
        `has a directive for ${resourceId}, which is not among its resources`,
      );
    }
    if (extending.has(resourceId)) throw fault(kind, 'bad-directive', `has two directives for ${resourceId}`);
    extending.add(resourceId);
    const variant = variantKey(extension);
    if (variant === undefined) continue;
    if (variants.has(variant)) throw fault(kind, 'bad-directive', `has the variant of ${resourceId} twice`);
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

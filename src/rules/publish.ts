import type { CatalogType } from '../protocol/catalog.ts';
import type { ErrorBody } from '../protocol/errors.ts';
import { refusalAt } from '../protocol/fault.ts';
import { namesIdentity } from '../protocol/identity.ts';
import type { PublishResult } from '../protocol/publish-messages.ts';
import { type Check, checkOffer, checkProvider } from './check-attributes.ts';
import type { WithTemplates } from './extends.ts';
import { createFaultList } from './fault-list.ts';
import { createInheritanceBudget, type InheritanceLimits, type InheritedBytes } from './inherited-bytes.ts';
import { applyPublish, type CatalogChange, type CatalogMembers, type UpdateMode } from './merge.ts';
import { acceptResources } from './publish-resources.ts';
import type { Known, Publisher, ResourceUpsert, Submission } from './submission.ts';

// One catalog of a publish: from the submission and the stored catalog to its result in on_publish and the change to write (catalog spec: POST /catalog/on_publish).

export interface PublishOutcome {
  result: PublishResult;
  /** Absent if the catalog is REJECTED: then nothing changes. */
  change?: PublishChange;
  /** Bytes that its resources inherit, or would inherit. */
  inheritedBytes: number;
}

export interface PublishChange extends CatalogChange<ResourceUpsert> {
  catalogType: CatalogType;
  networkIds: string[];
  /** The catalog-level members as sent to others: with bppId and bppUri added if missing. */
  head: CatalogMembers;
}

export function* processCatalog(
  submission: Submission,
  publisher: Publisher,
  known: Known,
  { checker, limits }: { checker: Check; limits: InheritanceLimits },
): WithTemplates<PublishOutcome> {
  const { catalog, at, catalogType, updateMode, networkIds } = submission;
  const { bppId, bppUri } = publisher;
  const current = known.stored?.owner === undefined ? startAnew(known) : known;
  const refusal = findRefusal(submission, publisher, current, checker);
  if (refusal.length > 0) return rejected(catalog.id, refusal);

  const faults = createFaultList();
  const budget = createInheritanceBudget(limits, startOf(current.inherited, updateMode));
  const inQuestion = { submission, publisher, known: current, checker, budget, faults };
  const resources = yield* acceptResources(inQuestion);
  const inheritedBytes = budget.used.publish - known.inherited.publish;
  const offers = (catalog.offers ?? []).flatMap((offer, index) => {
    const wrong = checkOffer(offer, checker, { at: [...at, 'offers', index], brief: faults.isFull() });
    return wrong.length > 0 ? faults.refuse(wrong) : offer;
  });

  const change = applyPublish(current.stored?.members, { catalog, resources, offers }, updateMode);
  if (change === undefined) {
    const empty = refusalAt(at, 'would have neither a resource nor an offer');
    return rejected(catalog.id, faults.isEmpty() ? [empty] : faults.list(), inheritedBytes);
  }
  const stats = statsOf(change);
  const errors = faults.list((id) => change.removesOthers && current.servedIds.has(id));
  return {
    result: faults.isEmpty()
      ? { catalogId: catalog.id, status: 'ACCEPTED', stats }
      : { catalogId: catalog.id, status: 'PARTIAL', stats, errors },
    change: { ...change, catalogType, networkIds, head: { bppId, bppUri, ...change.members } },
    inheritedBytes,
  };
}

/** A released id has no past: neither content nor type of the former owner's catalog counts. */
function startAnew(known: Known): Known {
  const { masters, inherited } = known;
  return {
    ...{ extensions: new Map(), masters, variantHolders: new Map(), servedIds: new Set() },
    inherited: { ...inherited, catalog: 0 },
  };
}

/** Bytes inherited before that still count: a FULL replaces them. */
function startOf(inherited: InheritedBytes, updateMode: UpdateMode): InheritedBytes {
  if (updateMode === 'MERGE') return inherited;
  return { ...inherited, catalog: 0, publisher: inherited.publisher - inherited.catalog };
}

/** The reason to refuse a whole catalog: it belongs to another publisher, has another type, or its own members are invalid. */
function findRefusal(
  { catalog, at, directiveAt, catalogType, updateMode }: Submission,
  { identity, recordSubscriberId, registryName }: Publisher,
  { stored, contestedId }: Known,
  checker: Check,
): ErrorBody[] {
  if (stored !== undefined && stored.owner !== identity) {
    return [refusalAt([...at, 'id'], 'belongs to another publisher', 'AUT_UNAUTHORIZED_ACTION')];
  }
  const { bppId } = catalog;
  if (bppId !== undefined && !namesIdentity(bppId, identity, recordSubscriberId, registryName)) {
    return [refusalAt([...at, 'bppId'], 'does not name the publisher', 'AUT_UNAUTHORIZED_ACTION')];
  }
  if (stored !== undefined && stored.catalogType !== catalogType) {
    const where = directiveAt ? [...directiveAt, 'catalogType'] : at;
    const problem = `changes a ${stored.catalogType} catalog to ${catalogType}, but a catalog never changes its type`;
    return [refusalAt(where, problem)];
  }
  if (catalogType === 'MASTER' && (catalog.offers?.length ?? 0) > 0) {
    return [refusalAt([...at, 'offers'], 'is not allowed in a MASTER catalog')];
  }
  if (updateMode === 'MERGE' && contestedId !== undefined) {
    const where = directiveAt ? [...directiveAt, 'visibleTo'] : at;
    const problem = `makes ${contestedId} visible in a network where it is a master resource of another publisher`;
    return [refusalAt(where, problem)];
  }
  return checkProvider(catalog.provider, checker, { at: [...at, 'provider'] });
}

function rejected(catalogId: string, errors: ErrorBody[], inheritedBytes = 0): PublishOutcome {
  return { result: { catalogId, status: 'REJECTED', errors }, inheritedBytes };
}

function statsOf({ members, resources, offers }: CatalogChange<ResourceUpsert>): PublishResult['stats'] {
  const providers = offers.flatMap(({ provider }) => provider?.id ?? []);
  const names = resources.flatMap(({ types }) => types?.['@type'] ?? []);
  return {
    itemCount: resources.length,
    providerCount: new Set([members.provider.id, ...providers]).size,
    categoryCount: new Set(names).size,
  };
}

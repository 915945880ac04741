import type { Resource } from '../protocol/catalog.ts';
import { type ErrorBody, errorBody } from '../protocol/errors.ts';
import { refusalAt, type Segments } from '../protocol/fault.ts';
import { identityOf, namesIdentity } from '../protocol/identity.ts';
import type { FileDirective, IndexEntry } from '../protocol/signed-files.ts';
import { type Check, checkOffer, checkProvider, checkResource } from '../rules/check-attributes.ts';
import { variantKey } from '../rules/extends.ts';
import { createFaultList } from '../rules/fault-list.ts';
import { assembleResource } from '../rules/inherit.ts';
import type { OwnMaster } from './masters.ts';
import type { NextContent, TriggerSubmission } from './submission.ts';
import type { PublisherTree } from './tree.ts';

// Whether a submitted catalog can be published. Readers discard a faulty file as a whole, without telling its publisher
// (self-hosted spec: Errors). So faults are found here, before anything is written; a catalog is accepted as a whole or not at all.

/** The reason to refuse a catalog before its content is checked: its id is invalid, or belongs to another node. */
export function findRefusal(
  { catalog, catalogType, at, directiveAt }: TriggerSubmission,
  entry: IndexEntry | undefined,
  { nodeId, registryName }: Pick<PublisherTree, 'nodeId' | 'registryName'>,
): ErrorBody | undefined {
  if (entry?.retiredAt !== undefined) {
    const problem = `was retired at ${entry.retiredAt}, and a retired catalog never comes back`;
    return refusalAt([...at, 'id'], problem);
  }
  if (entry !== undefined && entry.catalogType !== catalogType) {
    const where = directiveAt ? [...directiveAt, 'catalogType'] : at;
    const problem = `changes a ${entry.catalogType} catalog to ${catalogType}, but a catalog never changes its type`;
    return refusalAt(where, problem);
  }
  const { bppId, offers = [] } = catalog;
  const identity = identityOf(nodeId, registryName);
  if (bppId !== undefined && !namesIdentity(bppId, identity, undefined, registryName))
    return refusalAt([...at, 'bppId'], `does not name ${nodeId}`, 'AUT_UNAUTHORIZED_ACTION');
  if (catalogType === 'MASTER' && offers.length > 0)
    return refusalAt([...at, 'offers'], 'is not allowed in a MASTER catalog');
  return undefined;
}

/**
 * Checks the content. A resource that extends one of our own master resources is checked with the inherited values. A resource
 * that extends another node's, or that is a template, may lack members that its schema requires.
 *
 * @param isNews whether a resource or offer must be checked; others are published already and were valid
 */
export function findContentFaults(
  submission: TriggerSubmission,
  next: NextContent,
  masters: ReadonlyMap<string, OwnMaster>,
  isNews: (id: string) => boolean,
  checker: Check,
): ErrorBody[] {
  const { catalog, at } = submission;
  if (next.resources.size + next.offers.size === 0)
    return [refusalAt(at, 'would have neither a resource nor an offer')];
  const faults = createFaultList();
  faults.refuse(checkProvider(catalog.provider, checker, { at: [...at, 'provider'] }));
  faults.refuse(findDirectiveFaults(submission, next));
  const partial = submission.catalogType === 'MASTER';
  for (const [index, resource] of (catalog.resources ?? []).entries()) {
    const directive = next.directives.get(resource.id);
    if (!directive) {
      if (!isNews(resource.id)) continue;
      // Few resources have faults, so the place is computed only for those.
      if (checkResource(resource, checker, { partial, brief: true }).length === 0) continue;
    }
    const options = { at: [...at, 'resources', index], brief: faults.isFull() };
    faults.refuse(
      directive
        ? findExtensionFaults(resource, directive, masters, checker, options)
        : checkResource(resource, checker, { ...options, partial }),
    );
  }
  for (const [index, offer] of (catalog.offers ?? []).entries()) {
    if (!isNews(offer.id)) continue;
    faults.refuse(checkOffer(offer, checker, { at: [...at, 'offers', index], brief: faults.isFull() }));
  }
  return faults.list();
}

function findExtensionFaults(
  resource: Resource,
  directive: FileDirective,
  masters: ReadonlyMap<string, OwnMaster>,
  checker: Check,
  options: { at: Segments; brief: boolean },
): ErrorBody[] {
  const template = masters.get(directive.extends.masterResourceId)?.resource;
  if (template === undefined) return checkResource(resource, checker, { ...options, partial: true });
  const { assembled, faults } = assembleResource(resource, template, options.at);
  return faults ? faults.map(errorBody) : checkResource(assembled, checker, options);
}

/** One directive per resource, and each variant of a master resource once per catalog, including kept resources. */
function findDirectiveFaults({ extensions }: TriggerSubmission, { directives }: NextContent): ErrorBody[] {
  const holders = new Map<string, string>();
  for (const [id, { resourceId: _, ...extension }] of directives) {
    const variant = variantKey(extension);
    if (variant !== undefined && !extensions.has(id)) holders.set(variant, id);
  }
  return [...extensions].flatMap(([id, { extension, at, repeatedAt }]) => {
    const variant = variantKey(extension);
    const holder = variant === undefined ? undefined : holders.get(variant);
    const second = repeatedAt ? [refusalAt(repeatedAt, 'is a second directive for the same resource')] : [];
    if (holder === undefined || holder === id) return second;
    return [...second, refusalAt([...at, 'variant'], `is used by the resource ${holder} of this catalog`)];
  });
}

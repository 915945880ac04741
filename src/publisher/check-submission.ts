import { type ErrorBody, type ErrorCode, errorBody } from '../protocol/errors.ts';
import { faultAt, type Segments } from '../protocol/fault.ts';
import { identityOf, namesIdentity } from '../protocol/identity.ts';
import { type Check, checkCatalog } from '../rules/check-attributes.ts';
import type { PublishedCatalog } from './build.ts';
import type { TriggerSubmission } from './submission.ts';

/** Who publishes, and what typed attributes are held against. */
export interface Checking {
  nodeId: string;
  registryName: string;
  schemas: { checker(): Check };
}

/** What is wrong with a submitted catalog; then nothing of it is published (self-hosted spec: Errors). */
export function checkSubmission(
  submission: TriggerSubmission,
  { nodeId, registryName, schemas }: Checking,
  current: PublishedCatalog | undefined,
): ErrorBody[] {
  const { catalog, catalogType, at, directiveAt, extensions } = submission;
  if (current?.entry.retiredAt !== undefined) {
    return [refusal([...at, 'id'], `was retired at ${current.entry.retiredAt}, which is for ever`)];
  }
  const before = current?.entry.catalogType;
  if (before !== undefined && before !== catalogType) {
    const where = directiveAt ? [...directiveAt, 'catalogType'] : at;
    return [
      refusal(where, `makes a ${catalogType} of a ${before} catalog, but a catalog never changes its type`),
    ];
  }
  const { bppId } = catalog;
  if (
    bppId !== undefined &&
    !namesIdentity(bppId, identityOf(nodeId, registryName), undefined, registryName)
  ) {
    return [refusal([...at, 'bppId'], 'names somebody else than this node', 'AUT_UNAUTHORIZED_ACTION')];
  }
  if (catalogType === 'MASTER' && (catalog.offers?.length ?? 0) > 0) {
    return [refusal([...at, 'offers'], 'cannot stand in a MASTER catalog')];
  }
  const isPartial = ({ id }: { id: string }) => catalogType === 'MASTER' || extensions.has(id);
  return checkCatalog(catalog, schemas.checker(), { at, isPartial });
}

function refusal(at: Segments, problem: string, code: ErrorCode = 'BIZ_GENERIC_ERROR'): ErrorBody {
  return errorBody(faultAt(code, at, problem));
}

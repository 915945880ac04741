import type { Resource } from '../protocol/catalog.ts';
import { type ErrorBody, errorBody } from '../protocol/errors.ts';
import { faultAt, type Segments } from '../protocol/fault.ts';
import { type Check, checkResource } from './check-attributes.ts';
import { findTakenVariants, findTemplate, type MasterResource, sharesNetwork } from './extends.ts';
import type { FaultList } from './fault-list.ts';
import { assembleResource } from './inherit.ts';
import type { Known, Publisher, ResourceUpsert, Submission } from './submission.ts';

export interface ResourcesInQuestion {
  submission: Submission;
  publisher: Publisher;
  known: Known;
  checker: Check;
  /** Gets what is wrong with those that are not accepted. */
  faults: FaultList;
}

/** The resources of a submitted catalog that are accepted: each for itself, then held against the variants of the others. */
export function acceptResources(question: ResourcesInQuestion): ResourceUpsert[] {
  const { submission, faults } = question;
  const judge = submission.catalogType === 'MASTER' ? judgeMaster : judgeRegular;
  const accepted = (submission.catalog.resources ?? []).flatMap((resource, index) => {
    const verdict = judge(resource, [...submission.at, 'resources', index], question);
    return Array.isArray(verdict) ? faults.refuse(verdict, resource.id) : verdict;
  });
  return withoutTakenVariants(accepted, question);
}

/** What is to be written, or what is wrong. */
type Verdict = ResourceUpsert | ErrorBody[];

/** In a network a master resource id belongs to whoever published it first; being a template, it may be incomplete. */
function judgeMaster(own: Resource, at: Segments, question: ResourcesInQuestion): Verdict {
  const { submission, publisher, known, checker, faults } = question;
  const isForeign = ({ owner, networkIds }: MasterResource) =>
    owner !== undefined && owner !== publisher.identity && sharesNetwork(networkIds, submission.networkIds);
  if (known.masters.get(own.id)?.some(isForeign)) {
    return [refusal([...at, 'id'], 'is a master resource of another publisher in the same network')];
  }
  const wrong = checkResource(own, checker, { at, partial: true, brief: faults.isFull() });
  return wrong.length > 0 ? wrong : { id: own.id, own, assembled: own };
}

function judgeRegular(own: Resource, at: Segments, question: ResourcesInQuestion): Verdict {
  const { submission, known, checker, faults } = question;
  const given = submission.extensions.get(own.id);
  if (given?.repeatedAt) return [refusal(given.repeatedAt, 'is a second directive for the same resource')];
  const stored = known.extensions.get(own.id);
  // A MERGE keeps what a resource extends when its directive is not repeated.
  const extension = given?.extension ?? (submission.updateMode === 'MERGE' ? stored?.extension : undefined);
  const template =
    extension &&
    findTemplate({
      masterResourceId: extension.extends.masterResourceId,
      isGiven: given !== undefined,
      networkIds: submission.networkIds,
      candidates: known.masters.get(extension.extends.masterResourceId) ?? [],
      stored,
    });
  if (given && !template) {
    return [
      refusal(
        [...given.at, 'extends', 'masterResourceId'],
        'names no master resource of a network that this catalog is visible to',
      ),
    ];
  }
  const { assembled, faults: contradictions } = assembleResource(own, template?.resource, at);
  if (contradictions) return contradictions.map(errorBody);
  const wrong = checkResource(assembled, checker, { at, brief: faults.isFull() });
  return wrong.length > 0 ? wrong : { id: own.id, own, assembled, extension, template };
}

/** A FULL leaves no stored resource that could hold a variant; that a request claims none twice was seen to before. */
function withoutTakenVariants(
  accepted: ResourceUpsert[],
  { submission, known, faults }: ResourcesInQuestion,
): ResourceUpsert[] {
  if (submission.updateMode === 'FULL' || known.variantHolders.size === 0) return accepted;
  const claims = accepted.map(({ id, extension }) => ({
    id,
    extension,
    isGiven: submission.extensions.has(id),
  }));
  const taken = findTakenVariants(claims, known.variantHolders);
  for (const id of taken) {
    const at = submission.extensions.get(id)?.at ?? submission.at;
    faults.refuse([refusal([...at, 'variant'], 'is held by another resource of this catalog')]);
  }
  return accepted.filter(({ id }) => !taken.has(id));
}

function refusal(segments: Segments, problem: string): ErrorBody {
  return errorBody(faultAt('BIZ_GENERIC_ERROR', segments, problem));
}

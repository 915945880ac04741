import type { Resource } from '../protocol/catalog.ts';
import { type ErrorBody, errorBody } from '../protocol/errors.ts';
import { refusalAt, type Segments } from '../protocol/fault.ts';
import { type Check, checkResource } from './check-attributes.ts';
import {
  contentOf,
  type Extension,
  findTakenVariants,
  findTemplate,
  type MasterResource,
  sharesNetwork,
  type Template,
  type TemplateContents,
  type WithTemplates,
} from './extends.ts';
import type { FaultList } from './fault-list.ts';
import { assembleResource } from './inherit.ts';
import { batchesOf, describeExcess, fitTemplate, type InheritanceBudget } from './inherited-bytes.ts';
import type { Known, Publisher, ResourceUpsert, Submission } from './submission.ts';

interface ResourcesInQuestion {
  submission: Submission;
  publisher: Publisher;
  known: Known;
  checker: Check;
  budget: InheritanceBudget;
  faults: FaultList;
}

/** The accepted resources of a submitted catalog. Inherited bytes are bounded before assembly, so a resource that is refused for another reason counts, too. */
export function* acceptResources(question: ResourcesInQuestion): WithTemplates<ResourceUpsert[]> {
  const { submission, faults } = question;
  const judge = submission.catalogType === 'MASTER' ? judgeMaster : judgeRegular;
  const planned = (submission.catalog.resources ?? []).map((own, index) =>
    planResource(own, [...submission.at, 'resources', index], question),
  );
  const accepted: ResourceUpsert[] = [];
  for (const batch of batchesOf(planned, ({ template }) => template?.bytes ?? 0)) {
    const templates = batch.flatMap(({ template }) => template ?? []);
    const contents = templates.length > 0 ? yield templates : none;
    for (const one of batch) {
      const verdict = one.refusal ? [one.refusal] : judge(one, contents, question);
      if (Array.isArray(verdict)) faults.refuse(verdict, one.own.id);
      else accepted.push(verdict);
    }
  }
  return withoutTakenVariants(accepted, question);
}

const none: TemplateContents = new Map();

interface PlannedResource {
  own: Resource;
  at: Segments;
  extension?: Extension;
  template?: Template;
  refusal?: ErrorBody;
}

type Verdict = ResourceUpsert | ErrorBody[];

/** The template of a resource of a REGULAR catalog, or the reason why the resource cannot extend it. */
function planResource(own: Resource, at: Segments, question: ResourcesInQuestion): PlannedResource {
  const { submission, known, budget } = question;
  const given = submission.extensions.get(own.id);
  if (given?.repeatedAt)
    return { own, at, refusal: refusalAt(given.repeatedAt, 'is a second directive for the same resource') };
  const stored = known.extensions.get(own.id);
  const isMerge = submission.updateMode === 'MERGE';
  // A MERGE without a directive for a resource keeps what it extends.
  const extension = given?.extension ?? (isMerge ? stored?.extension : undefined);
  if (extension === undefined) return { own, at };
  const { masterResourceId } = extension.extends;
  const template = findTemplate({
    masterResourceId,
    isGiven: given !== undefined,
    networkIds: submission.networkIds,
    candidates: known.masters.get(masterResourceId) ?? [],
    stored,
  });
  if (template === undefined) {
    const where = given ? [...given.at, 'extends', 'masterResourceId'] : at;
    const problem =
      'names no master resource of a network that this catalog is visible to; only masters that were published through this catalog service can be extended here';
    return { own, at, refusal: refusalAt(where, problem) };
  }
  const last = stored?.template;
  const fitting = fitTemplate(template, last, budget, isMerge ? last?.bytes : undefined);
  if ('scope' in fitting) return { own, at, refusal: refusalAt(at, describeExcess(fitting, template)) };
  return { own, at, extension, template: fitting };
}

/** In a network a master resource id belongs to its first publisher; being a template, it may be incomplete. */
function judgeMaster(
  { own, at }: PlannedResource,
  _contents: TemplateContents,
  question: ResourcesInQuestion,
): Verdict {
  const { submission, publisher, known, checker, faults } = question;
  const isForeign = ({ owner, networkIds }: MasterResource) =>
    owner !== undefined && owner !== publisher.identity && sharesNetwork(networkIds, submission.networkIds);
  if (known.masters.get(own.id)?.some(isForeign)) {
    return [refusalAt([...at, 'id'], 'is a master resource of another publisher in the same network')];
  }
  const wrong = checkResource(own, checker, { at, partial: true, brief: faults.isFull() });
  return wrong.length > 0 ? wrong : { id: own.id, own, types: own.resourceAttributes };
}

function judgeRegular(
  { own, at, extension, template }: PlannedResource,
  contents: TemplateContents,
  { checker, faults }: ResourcesInQuestion,
): Verdict {
  const content = template && contentOf(template, contents);
  const { assembled, faults: contradictions } = assembleResource(own, content, at);
  if (contradictions) return contradictions.map(errorBody);
  const wrong = checkResource(assembled, checker, { at, brief: faults.isFull() });
  if (wrong.length > 0) return wrong;
  if (template === undefined) return { id: own.id, own, types: own.resourceAttributes };
  const { resourceAttributes: typed } = assembled;
  const types = typed && { '@context': typed['@context'], '@type': typed['@type'] };
  return { id: own.id, own, assembled: JSON.stringify(assembled), types, extension, template };
}

/** A FULL leaves no stored resource that could hold a variant; duplicate claims within a request were refused before. */
function withoutTakenVariants(
  accepted: ResourceUpsert[],
  { submission, known, faults }: ResourcesInQuestion,
): ResourceUpsert[] {
  if (submission.updateMode === 'FULL' || known.variantHolders.size === 0) return accepted;
  const isGiven = (id: string) => submission.extensions.has(id);
  const claims = accepted.map(({ id, extension }) => ({ id, extension, isGiven: isGiven(id) }));
  const taken = findTakenVariants(claims, known.variantHolders);
  for (const id of taken) {
    const at = submission.extensions.get(id)?.at ?? submission.at;
    faults.refuse([refusalAt([...at, 'variant'], 'is used by another resource of this catalog')]);
  }
  return accepted.filter(({ id }) => !taken.has(id));
}

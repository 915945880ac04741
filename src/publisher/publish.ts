import type { ErrorBody } from '../protocol/errors.ts';
import { refusalAt } from '../protocol/fault.ts';
import type { TriggerAnswer, TriggerRequest, TriggerResult } from '../protocol/trigger-messages.ts';
import { planPublish } from './activity.ts';
import { buildPublish } from './build.ts';
import { findContentFaults, findRefusal } from './check-submission.ts';
import { pauseCatalog, resumeCatalog, retireCatalog, rewriteBaselines } from './commands.ts';
import type { ContentDiff } from './diff.ts';
import { editTree } from './edit.ts';
import { factsOf, networksOf } from './facts.ts';
import { type OwnMaster, readOwnMasters, selectMasters } from './masters.ts';
import { defaultIndexName, isIndexName } from './paths.ts';
import { type NextContent, type TriggerSubmission, triggerSubmissionsOf } from './submission.ts';
import { buildOptions, type PublisherTree } from './tree.ts';
import { accept, reject, type Turn } from './turn.ts';
import { findMasterProblems, findNodeProblems, findUnaskedRemovals } from './warnings.ts';

/**
 * Applies a request to the trigger, or a command, to the tree (self-hosted spec: Endpoints, Local trigger). Each catalog is accepted or
 * rejected separately; accepted ones are served when the answer is sent.
 *
 * @param indexName the index for new catalogs. A catalog stays in its index; naming another one is refused.
 */
export async function publishCatalogs(tree: PublisherTree, request: TriggerRequest, indexName?: string) {
  if (indexName !== undefined && !isIndexName(indexName))
    throw new Error(`"${indexName}" is not a valid name of an index.`);
  const { message, retire = [], pause = [], resume = [], forceBaseline = false } = request;
  return editTree(tree, async (edit) => {
    const turn: Turn = { tree, edit, indexName, forceBaseline, warnings: [] };
    const results: TriggerResult[] = [];
    for (const submission of message ? triggerSubmissionsOf(message) : [])
      results[submission.position] = await publishCatalog(turn, submission);
    const commands = { retire: retireCatalog, pause: pauseCatalog, resume: resumeCatalog };
    for (const [name, ids] of Object.entries({ retire, pause, resume }) as [
      keyof typeof commands,
      string[],
    ][])
      for (const [index, id] of ids.entries()) results.push(await commands[name](turn, id, [name, index]));
    if (forceBaseline && !message) {
      const named = new Set(results.map(({ catalogId }) => catalogId));
      results.push(...(await rewriteBaselines(turn)).filter(({ catalogId }) => !named.has(catalogId)));
    }
    return answerOf(results, [...turn.warnings, ...findNodeProblems(edit.entries().length)]);
  });
}

export function answerOf(results: TriggerResult[], warnings: string[]): TriggerAnswer {
  const isFailed = results.length > 0 && results.every(({ status }) => status === 'REJECTED');
  const status = isFailed ? 'FAILED' : 'COMPLETED';
  return warnings.length === 0 ? { status, results } : { status, results, warnings };
}

async function publishCatalog(turn: Turn, submission: TriggerSubmission): Promise<TriggerResult> {
  const { tree, edit, indexName = defaultIndexName, forceBaseline } = turn;
  const { catalog, updateMode, at } = submission;
  const checker = tree.schemas.checker();
  const found = edit.find(catalog.id);
  const refused = findRefusal(submission, found?.entry, tree);
  if (refused) return reject(catalog.id, [refused]);
  if (found && turn.indexName !== undefined && found.indexName !== turn.indexName)
    return reject(catalog.id, [
      refusalAt([...at, 'id'], `is already published, in the index ${found.indexName}`),
    ]);

  const current = found && (await edit.read(found.entry));
  if (current && !current.content) {
    if (updateMode === 'MERGE') {
      const problem = 'cannot be merged, because the published files cannot be read back: publish it whole';
      return reject(catalog.id, [refusalAt(at, problem)]);
    }
    const warning = `The published files of ${catalog.id} cannot be read back; a new baseline replaces them.`;
    turn.warnings.push(warning);
  }
  const plan = planPublish(submission, current, tree.profile);
  const { next, diff } = plan;
  const masters = await findMasters(turn, next, networksOf(submission, found?.entry));
  const isKnownSound = current?.checkedBy === checker;
  const isNews = isKnownSound ? isPartOf(diff) : () => true;
  // Keeps built files in memory until all content has been checked.
  let faults: ErrorBody[] | undefined;
  const check = () => (faults ??= findContentFaults(submission, next, masters, isNews, checker));
  const isInTree = (catalogId: string) => edit.find(catalogId) !== undefined;
  const facts = factsOf(submission, found?.entry, plan, { masters, isInTree });
  const options = { ...buildOptions(tree, forceBaseline), whileSigning: check };
  const built = await buildPublish(current, facts, { next, diff }, options);
  if (check().length > 0) return reject(catalog.id, check());
  turn.warnings.push(...findUnaskedRemovals(submission, diff));

  if (facts.masters.every((master) => isInTree(master.catalogId)))
    turn.warnings.push(...findMasterProblems(catalog.id, next.directives.values(), masters));
  // A MERGE does not check kept resources.
  const isAllChecked = updateMode === 'FULL' || current === undefined || isKnownSound;
  return accept(turn, found?.indexName ?? indexName, built, isAllChecked ? checker : undefined);
}

async function findMasters(turn: Turn, { directives }: NextContent, networkIds: string[] | undefined) {
  if (directives.size === 0) return new Map<string, OwnMaster>();
  // MASTER catalogs come first in a request, so they no longer change.
  turn.masters ??= readOwnMasters(turn.tree, turn.edit);
  return selectMasters(await turn.masters, directives.values(), networkIds);
}

function isPartOf(diff: ContentDiff | undefined): (id: string) => boolean {
  const changed = [...(diff?.resources.upserts ?? []), ...(diff?.offers.upserts ?? [])];
  const ids = new Set(changed.map(({ id }) => id));
  return (id) => ids.has(id);
}

import { checkPublishMessage } from '../protocol/publish-messages.ts';
import type { IndexEntry } from '../protocol/signed-files.ts';
import { type TriggerAnswer, TriggerRequest, type TriggerResult } from '../protocol/trigger-messages.ts';
import { validator } from '../protocol/validate.ts';
import { type BuildOptions, buildPublish, type PublishedCatalog } from './build.ts';
import { checkSubmission } from './check-submission.ts';
import { defaultIndexName } from './paths.ts';
import type { SealedFile } from './seal.ts';
import { nextContent, type TriggerSubmission, triggerSubmissionsOf } from './submission.ts';
import { type PublisherTree, readContent, readIndexes, withTreeLock, writeIndex } from './tree.ts';
import { writeContent } from './write.ts';

/** The request of a trigger or a command, checked; throws a ProtocolError at the first fault. */
export function parseTriggerRequest(value: unknown): TriggerRequest {
  const request = parseShape(value);
  if (request.message) checkPublishMessage(request.message);
  return request;
}

const parseShape = validator(TriggerRequest);

/** Does what a request asks for, and answers for each catalog that it names. */
export async function publishCatalogs(
  tree: PublisherTree,
  request: TriggerRequest,
  indexName = defaultIndexName,
): Promise<TriggerAnswer> {
  return withTreeLock(tree, async () => {
    const indexes = await readIndexes(tree);
    const entries = new Map(indexes.get(indexName)?.entries);
    const files: SealedFile[] = [];
    const results: TriggerResult[] = [];
    let changed = false;
    for (const submission of request.message ? triggerSubmissionsOf(request.message) : []) {
      const { id: catalogId } = submission.catalog;
      const current = await findPublished(tree, entries.get(catalogId));
      const errors = checkSubmission(submission, tree, current);
      if (errors.length > 0) {
        results.push({ catalogId, status: 'REJECTED', errors });
        continue;
      }
      const built = buildPublish(
        current,
        factsOf(submission, current),
        nextContent(current?.content, submission),
        buildOptions(tree, request.forceBaseline),
      );
      files.push(...built.files);
      entries.set(catalogId, built.entry);
      changed ||= built.kind !== 'unchanged';
      results.push({ catalogId, status: 'ACCEPTED', version: built.content.version });
    }
    for (const file of files) await writeContent(tree, file);
    if (changed) await writeIndex(tree, { name: indexName, entries });
    const failed = results.length > 0 && results.every(({ status }) => status === 'REJECTED');
    return { status: failed ? 'FAILED' : 'COMPLETED', results };
  });
}

async function findPublished(
  tree: PublisherTree,
  entry: IndexEntry | undefined,
): Promise<PublishedCatalog | undefined> {
  if (entry === undefined || entry.retiredAt !== undefined) return entry && { entry };
  return { entry, content: await readContent(tree, entry) };
}

function factsOf(
  { catalog, catalogType, networkIds }: TriggerSubmission,
  current: PublishedCatalog | undefined,
) {
  return {
    catalogId: catalog.id,
    catalogType,
    networkIds: networkIds ?? current?.entry.networkIds,
    isActive: catalog.isActive ?? true,
    masters: [],
  };
}

function buildOptions(tree: PublisherTree, forceBaseline = false): BuildOptions {
  const { key, profile, baseUrl, limits } = tree;
  return { key, profile, baseUrl, now: tree.now(), ...limits, forceBaseline };
}

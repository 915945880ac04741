import { identityOf } from '../../protocol/identity.ts';
import type { PublishResult } from '../../protocol/publish-messages.ts';
import type { TriggerAnswer } from '../../protocol/trigger-messages.ts';
import { findPublish, type PublishStanding } from '../../storage/console/publishes.ts';
import { listCrawledCatalogs } from '../../storage/crawl/status.ts';
import type { ProgressAnswer, PublishStep } from '../answers/publish.ts';
import type { ConsoleContext } from '../context.ts';
import { notFound } from '../errors.ts';

// Progress of a publish: sent, acknowledged, processed, on_publish, pushed, indexed. For signed files: written, then indexed by the crawler.

export async function readProgress(context: ConsoleContext, id: string): Promise<ProgressAnswer> {
  if (id.startsWith(filesPrefix)) return readFilesProgress(context, id);
  const found = await findPublish(context.database, id);
  if (!found) throw notFound(`No publish ${id} is recorded here.`);
  const results: PublishResult[] = found.results.map((text) => JSON.parse(text));
  return { steps: stepsOf(found, results), ...(results.length > 0 && { results }) };
}

function stepsOf(found: PublishStanding, results: readonly PublishResult[]): PublishStep[] {
  const { acceptedAt, doneAt, callback, catalogs } = found;
  const accepted = acceptedAt.toISOString();
  const rejected = results.filter(({ status }) => status === 'REJECTED').length;
  const isRejected = doneAt !== null && rejected === results.length;
  return [
    { step: 'sent', state: 'done', at: accepted },
    { step: 'ack', state: 'done', at: accepted, detail: 'The catalog service has stored it.' },
    {
      step: 'processed',
      state: doneAt === null ? 'waiting' : isRejected ? 'failed' : 'done',
      ...(doneAt && { at: doneAt.toISOString() }),
      detail: results.map(({ catalogId, status }) => `${catalogId}: ${status}`).join(', '),
    },
    callbackStep(callback),
    ...(isRejected ? [] : [pushStep(catalogs, doneAt), indexStep(catalogs, doneAt)]),
  ];
}

function callbackStep(callback: PublishStanding['callback']): PublishStep {
  if (!callback) return { step: 'on_publish', state: 'waiting' };
  const { state, lastError, settledAt } = callback;
  const outcome = state === 'delivered' ? 'done' : state === 'open' ? 'waiting' : 'failed';
  return {
    ...{ step: 'on_publish', state: outcome },
    ...(settledAt && { at: settledAt.toISOString() }),
    ...(lastError && outcome !== 'done' && { detail: lastError }),
  };
}

function pushStep(catalogs: PublishStanding['catalogs'], doneAt: Date | null): PublishStep {
  if (doneAt === null) return { step: 'pushed', state: 'waiting' };
  const sum = (name: 'receivers' | 'acknowledged' | 'failed' | 'skipped') =>
    catalogs.reduce((total, one) => total + one[name], 0);
  const [receivers, acknowledged] = [sum('receivers'), sum('acknowledged')];
  const [failed, skipped] = [sum('failed'), sum('skipped')];
  const at = latest(catalogs.map(({ pushedAt }) => pushedAt));
  const others = receivers - acknowledged - failed - skipped;
  // A receiver that is down does not block the progress: its deliveries show it.
  const isDone = acknowledged > 0 && (others === 0 || isIndexed(catalogs));
  const isFailed = receivers > 0 && failed + skipped === receivers;
  const rest = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(skipped > 0 ? [`${skipped} skipped by an operator`] : []),
    ...(others > 0 ? [`${others} pending`] : []),
  ];
  return {
    ...{ step: 'pushed', state: isDone ? 'done' : isFailed ? 'failed' : 'waiting' },
    ...(at && acknowledged > 0 && { at: at.toISOString() }),
    detail:
      receivers === 0
        ? 'No discovery service has subscribed to it so far.'
        : `${[`${acknowledged} of ${receivers} discovery services have it`, ...rest].join(', ')}.`,
  };
}

function isIndexed(catalogs: PublishStanding['catalogs']): boolean {
  return catalogs.every(({ indexedAt }) => indexedAt !== null);
}

function indexStep(catalogs: PublishStanding['catalogs'], doneAt: Date | null): PublishStep {
  const isDone = doneAt !== null && isIndexed(catalogs);
  const at = latest(catalogs.map(({ indexedAt }) => indexedAt));
  return {
    ...{ step: 'indexed', state: isDone ? 'done' : 'waiting' },
    ...(isDone && at && { at: at.toISOString(), detail: 'It can be found.' }),
  };
}

function latest(dates: readonly (Date | null)[]): Date | undefined {
  return dates.flatMap((date) => date ?? []).sort((a, b) => b.getTime() - a.getTime())[0];
}

const filesPrefix = 'files-';

/** Encodes everything that is needed to follow the publish, so that any process can answer. */
export function nameFiles({ results }: TriggerAnswer, at: Date): string {
  const catalogs = results.map(({ catalogId, status, version }) => [catalogId, status, version ?? null]);
  return filesPrefix + Buffer.from(JSON.stringify({ at, catalogs })).toString('base64url');
}

async function readFilesProgress({ database, config }: ConsoleContext, id: string): Promise<ProgressAnswer> {
  const { at, catalogs } = parseFiles(id);
  const node = identityOf(config.identities.publisher.id, config.REGISTRY_NAME);
  const ids = catalogs.map(([catalogId]) => catalogId);
  const found = await listCrawledCatalogs(database, node, ids);
  const crawled = new Map(found.map((one) => [one.catalogId, one]));
  const taken = catalogs.filter(([, status]) => status !== 'REJECTED');
  const isTaken = taken.length > 0;
  const isServed = ([catalogId, , version]: PublishedFile) => {
    const { state, version: held } = crawled.get(catalogId) ?? {};
    return state === 'served' && (held ?? 0) >= (version ?? 0);
  };
  const lagging = taken.filter((one) => !isServed(one)).map(([catalogId]) => crawled.get(catalogId));
  const codes = [...new Set(lagging.flatMap((one) => one?.lastCode ?? []))];
  const detail = catalogs.map(([catalogId, status]) => `${catalogId}: ${status}`).join(', ');
  const indexed: PublishStep = {
    ...{ step: 'indexed', state: lagging.length === 0 ? 'done' : 'waiting' },
    ...(codes.length > 0 && { detail: `The crawler reports: ${codes.join(', ')}.` }),
  };
  return {
    steps: [
      { step: 'sent', state: 'done', at },
      { step: 'processed', state: isTaken ? 'done' : 'failed', at, detail },
      ...(isTaken ? [indexed] : []),
    ],
  };
}

type PublishedFile = [catalogId: string, status: string, version: number | null];

function parseFiles(id: string): { at: string; catalogs: PublishedFile[] } {
  try {
    const { at, catalogs } = JSON.parse(Buffer.from(id.slice(filesPrefix.length), 'base64url').toString());
    const isWhole = Array.isArray(catalogs) && catalogs.every((one) => typeof one?.[0] === 'string');
    if (typeof at === 'string' && isWhole) return { at, catalogs };
  } catch {
    // Reported below.
  }
  throw notFound(`No publish ${id} is recorded here.`);
}

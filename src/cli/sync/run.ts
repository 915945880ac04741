import { setFlagsFromString } from 'node:v8';
import type { Collected } from '../../import/collect.ts';
import { isLoss, type PerUnit } from '../../import/station.ts';
import { missingShare, planSync, type RememberedCatalog, type SyncPlan } from '../../import/sync-plan.ts';
import { LockNotFree, withFileLock } from '../../storage/file-lock.ts';
import { type CommandContext, CommandError, counted, explainError, joinSome } from '../command.ts';
import type { ImportOptions } from '../import/run.ts';
import { collect, reportCollected } from '../import/run.ts';
import type { ListenAddress } from '../send/callback.ts';
import { lockOf, readMemory, readOthersCatalogs, type SourceMemory, writeMemory } from './memory.ts';
import { publishPlan, type SyncTarget } from './publish.ts';
import { type MarkedReading, openSource, type SyncSource } from './source.ts';
import { startMetrics, watch } from './watch.ts';

// `signpost sync`: read the source → make catalogs → compare with the last sync → plan → publish the differences → remember them.

export interface SyncOptions
  extends SyncTarget,
    Pick<ImportOptions, 'per' | 'keepDoubtful' | 'strict' | 'report' | 'dryRun'> {
  name?: string;
  yes?: boolean;
  /** Days. */
  grace: number;
  /** Percent. */
  maxMissing: number;
  watch?: boolean;
  metrics?: ListenAddress;
}

export async function sync(given: SyncSource, options: SyncOptions, context: CommandContext): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${heapGrowingPercent}`);
  const config = context.config();
  const name = options.name ?? `${given.kind} ${given.file}`;
  const { mark, stations } = await readMemory(config, name, options.to);
  const { per, keepDoubtful, network } = options;
  const published = { mark, stations, salt: JSON.stringify([per, keepDoubtful, network]) };
  const source = openSource(given, published, context);
  // Keeps a reading until all of it is published, because the source reports it only once.
  let waiting: Made | undefined;
  const read = async () => {
    const reading = await source.read();
    if (reading) waiting = await make(reading, await readMemory(config, name, options.to), options, context);
    return waiting;
  };
  const round = async (isFirst: boolean) => {
    const outcome = await runOnce({ name, read, isFirst }, options, context);
    if (outcome.isComplete) waiting = undefined;
    return outcome;
  };
  const work = async () => {
    if (!options.watch) return void (await round(true));
    const metrics = options.metrics && (await startMetrics(options.metrics));
    await watch(round, { seconds: config.SYNC_SECONDS, metrics }, context).finally(metrics?.close);
  };
  await withFileLock(lockOf(config, name, options.to), lockWaitMs, work)
    .catch(explainError(LockNotFree, ({ message }) => `Another sync of ${name} runs. ${message}`))
    .finally(source.close);
}

/** A sync makes much garbage, so the heap is collected when it has grown by this much. V8 would let it grow to four times its size. */
const heapGrowingPercent = 50;

/** A second sync of the same source fails after this time. */
const lockWaitMs = 2_000;

interface Turn {
  name: string;
  /** Undefined: the source reports no change. */
  read(): Promise<Made | undefined>;
  /** Later rounds of a watch do not repeat the same losses. */
  isFirst: boolean;
}

interface Made extends Pick<MarkedReading, 'count' | 'unit' | 'mark'> {
  collected: Collected;
  per: PerUnit;
}

async function make(
  reading: MarkedReading,
  memory: SourceMemory,
  options: SyncOptions,
  context: CommandContext,
): Promise<Made> {
  const { count, unit, mark } = reading;
  const usual = reading.stationCount > mostStationCatalogs ? 'region' : 'station';
  const per = options.per ?? memory.per ?? reading.per ?? usual;
  const known = Object.keys(memory.catalogs);
  return { count, unit, mark, per, collected: await collect(reading, { ...options, per, known }, context) };
}

async function runOnce({ name, read, isFirst }: Turn, options: SyncOptions, context: CommandContext) {
  const config = context.config();
  const made = await read();
  if (!made) {
    if (!options.watch) context.print('The source has not changed since it was fully published.');
    return { status: 'The source has not changed.', isComplete: true };
  }
  const { collected, per, mark } = made;
  const memory = await readMemory(config, name, options.to);
  refuseTooMany(collected);
  const stationIds = new Set(collected.operators.keys());
  refuseHalfRead(memory, stationIds, options.maxMissing);
  if (isFirst || options.strict) await reportCollected(made, collected, options, context);
  const others = await readOthersCatalogs(config, memory);
  const own = collected.catalogs.filter(({ id }) => !others.has(id));
  const taken = collected.catalogs.flatMap(({ id }) => (others.has(id) ? `${id} (${others.get(id)})` : []));
  if (taken.length > 0) context.note(`Published by another source, left unchanged: ${joinSome(taken)}.`);
  const plan = planSync(memory, own, new Set(collected.heldBack));
  const now = new Date();
  const due = await findDue(plan, memory, options, now, context);
  if (options.dryRun) {
    printPlan(plan, due, options, context);
    return { status: '', isComplete: true };
  }
  if (plan.added.length + plan.changed.length + due.size > 0) await askFor(plan, due, options, context);
  const parts = { isFirst: Object.keys(memory.catalogs).length === 0, target: options, context };
  const { accepted, retired, refused } = await publishPlan(plan, due, parts);
  const next = nextMemory({ ...memory, per }, { stationIds, plan, accepted, retired, now });
  const isLeft = plan.gone.length + refused.length + taken.length + collected.heldBack.length > 0;
  const isSettled = !isLeft && !collected.problems.some(isLoss);
  await writeMemory(config, { ...next, mark: isSettled ? mark : undefined });
  for (const { catalogId, why } of refused) context.note(`Refused: ${catalogId}: ${why}`);
  if (refused.length > 0) context.setExitCode(1);
  printPlan(plan, due, options, context);
  return {
    status: renderCounts(plan, due.size),
    /** No station remains to be retired later. */
    isComplete: plan.gone.length === due.size,
    counts: {
      added: plan.added.length,
      changed: plan.changed.length,
      ...{ retired: retired.length, refused: refused.length, unchanged: plan.unchanged },
      waiting: plan.gone.length - due.size,
    },
  };
}

/** With more stations than this, one catalog per station is too many for crawlers. */
const mostStationCatalogs = 2_000;

function refuseTooMany({ operators }: Collected): void {
  const counts = new Map<string, number>();
  for (const id of operators.values()) counts.set(id, (counts.get(id) ?? 0) + 1);
  const [id, count] = [...counts].find(([, number]) => number > mostStationsOfOperator) ?? [];
  if (count === undefined) return;
  throw new CommandError(
    `Operator ${id} has ${counted(count, 'station')}. A sync takes at most ${counted(mostStationsOfOperator, 'station')} of one operator: divide the source, and give each part a --name.`,
  );
}

/** More than the largest operators have. It limits the memory of a sync. */
const mostStationsOfOperator = 50_000;

/** A source that ends early must not retire the missing stations. */
function refuseHalfRead(memory: SourceMemory, stationIds: ReadonlySet<string>, maxMissing: number): void {
  const { count, share } = missingShare(memory, stationIds);
  if (count < 2 || share * 100 <= maxMissing) return;
  throw new CommandError(
    `The source lacks ${counted(count, 'station')} of ${memory.stations.length}, more than ${maxMissing} %: it looks incomplete, and nothing was published. If they are gone, use --max-missing ${Math.ceil(share * 100)}.`,
  );
}

/** Catalogs to retire now: missing for longer than the grace period, or confirmed by the user. */
async function findDue(
  { gone }: SyncPlan,
  memory: SourceMemory,
  { grace, yes, watch: isWatching, dryRun }: SyncOptions,
  now: Date,
  context: CommandContext,
): Promise<Map<string, RememberedCatalog>> {
  const known = (ids: readonly string[]) =>
    new Map(ids.flatMap((id) => (memory.catalogs[id] ? [[id, memory.catalogs[id]] as const] : [])));
  const isDue = (id: string) => {
    const since = memory.catalogs[id]?.missingSince ?? now.toISOString();
    return now.getTime() - Date.parse(since) >= grace * dayMs;
  };
  const due = gone.filter(isDue);
  if (gone.length === due.length || yes || isWatching || dryRun) return known(due);
  const question = `The source no longer has ${counted(gone.length, 'catalog')}: ${joinSome(gone)}. Retire them now? A retired id never comes back.`;
  return known((await context.confirm(question)) ? gone : due);
}

const dayMs = 86_400_000;

async function askFor(
  plan: SyncPlan,
  due: ReadonlyMap<string, unknown>,
  { yes, watch: isWatching }: SyncOptions,
  context: CommandContext,
): Promise<void> {
  if (yes || isWatching) return;
  const answer = await context.confirm(`${renderCounts(plan, due.size)} Publish this?`);
  if (answer) return;
  throw new CommandError(
    answer === undefined
      ? 'There is no terminal to ask on: --yes publishes without asking, --dry-run shows the plan.'
      : 'Nothing was published.',
  );
}

function nextMemory(
  memory: SourceMemory,
  done: {
    stationIds: ReadonlySet<string>;
    plan: SyncPlan;
    accepted: ReadonlyMap<string, RememberedCatalog>;
    retired: readonly string[];
    now: Date;
  },
): SourceMemory {
  const gone = new Set(done.plan.gone);
  const retired = new Set(done.retired);
  const catalogs = Object.entries(memory.catalogs).flatMap(([id, { missingSince, ...known }]) => {
    // A signed catalog is retired permanently. A catalog service keeps it as inactive.
    if (retired.has(id))
      return memory.target === undefined
        ? []
        : [[id, { ...known, head: { ...known.head, isActive: false }, isRetired: true }]];
    return [[id, gone.has(id) ? { ...known, missingSince: missingSince ?? done.now.toISOString() } : known]];
  });
  return {
    ...memory,
    stations: [...done.stationIds],
    catalogs: { ...Object.fromEntries(catalogs), ...Object.fromEntries(done.accepted) },
  };
}

function printPlan(
  plan: SyncPlan,
  due: ReadonlyMap<string, unknown>,
  { dryRun, watch: isWatching }: SyncOptions,
  context: CommandContext,
): void {
  if (isWatching) return;
  const ids = {
    added: plan.added.map(({ id }) => id),
    changed: plan.changed.map(({ catalog }) => catalog.id),
    retired: [...due.keys()],
    waiting: plan.gone.filter((id) => !due.has(id)),
  };
  if (context.json) {
    context.print(JSON.stringify({ ...ids, unchanged: plan.unchanged, isDryRun: dryRun === true }, null, 2));
    return;
  }
  for (const [what, list] of Object.entries(ids)) {
    for (const id of list.slice(0, shownIds)) context.print(`${what}: ${id}`);
    if (list.length > shownIds) context.print(`${what}: … and ${list.length - shownIds} more`);
  }
  context.print(`${renderCounts(plan, due.size)}${dryRun ? ' Nothing was written.' : ''}`);
}

const shownIds = 20;

function renderCounts({ added, changed, unchanged, gone }: SyncPlan, retired: number): string {
  const waiting = gone.length - retired;
  const counts = [
    ...[`${added.length} added`, `${changed.length} changed`, `${retired} retired`, `${unchanged} unchanged`],
    ...(waiting > 0 ? [`${waiting} missing, to be retired after the grace period`] : []),
  ];
  return `${counted(added.length + changed.length + unchanged, 'catalog')}: ${counts.join(', ')}.`;
}

import { type Command, InvalidArgumentError } from 'commander';
import { identityOf } from '../protocol/identity.ts';
import type { PushState } from '../rules/push-outcome.ts';
import { listPushes, type PushSummary, replayPushes } from '../storage/catalog/push-list.ts';
import type { Database } from '../storage/database.ts';
import {
  type CallbackState,
  type CallbackSummary,
  listCallbacks,
  replayCallback,
} from '../storage/work/callbacks.ts';
import { parseCount, parseSubscriber } from './arguments.ts';
import { type CommandContext, CommandError, renderTable } from './command.ts';
import { withDatabase } from './database.ts';

// The operator's view of what leaves the node: callbacks and pushes, what became of them, and another try for what was parked.

export function registerDeliveriesCommand(program: Command, context: CommandContext): void {
  const deliveries = program.command('deliveries').addHelpText('after', examples);

  deliveries
    .command('list')
    .description('list callbacks, the latest first, and pushes by subscriber and catalog')
    .option('--state <state>', `only ${Object.keys(states).join(', ')}`, parseStateName)
    .option('--subscriber <subscriber>', 'only pushes to this subscriber', parseSubscriber)
    .option('--limit <count>', 'at most so many of each kind', parseCount, 100)
    .option('--json', 'print JSON')
    .action((options: ListOptions) => list(context, options));

  deliveries
    .command('replay')
    .description('try parked deliveries again: one, or all')
    .argument('[id]', 'as listed, such as push-7 or callback-12', parseDeliveryId)
    .option('--all', 'all that are parked')
    .action((id: DeliveryId | undefined, { all = false }: { all?: boolean }) => {
      if ((id === undefined) !== all) throw new CommandError('Name one delivery to replay, or say --all.');
      return id === undefined ? replayAll(context) : replayOne(context, id);
    });
}

const examples = `
Examples:
  $ signpost deliveries list --state parked
  $ signpost deliveries list --subscriber ds.example.com
  $ signpost deliveries replay push-7
  $ signpost deliveries replay --all

A callback is sent again as it was; a push is computed anew from what the subscriber has acknowledged.
They work on the database that the settings name: DATABASE_URL, or the embedded one under DATA_DIR.`;

/** What a person asks for, and what that is for each kind. */
const states = {
  open: { callbacks: ['open'], pushes: ['pending'] },
  delivered: { callbacks: ['delivered'], pushes: ['acknowledged', 'withdrawn'] },
  parked: { callbacks: ['refused', 'parked'], pushes: ['parked', 'no endpoint'] },
} as const satisfies Record<string, { callbacks: CallbackState[]; pushes: PushState[] }>;
type StateName = keyof typeof states;

interface ListOptions {
  state?: StateName;
  subscriber?: string;
  limit: number;
  json?: boolean;
}

async function list(context: CommandContext, { state, subscriber, limit, json }: ListOptions): Promise<void> {
  await withDatabase(context, async (database, config) => {
    const callbacks = subscriber === undefined ? await findCallbacks(database, state, limit) : [];
    const pushes = await listPushes(database, {
      subscriber: subscriber && identityOf(subscriber, config.REGISTRY_NAME),
      states: state && states[state].pushes,
      limit,
      offset: 0,
    });
    if (json) return context.print(JSON.stringify({ callbacks, pushes }, null, 2));
    const rows = [...callbacks.map(callbackRow), ...pushes.map(pushRow)];
    context.print(rows.length > 0 ? renderTable(header, rows) : 'There is no such delivery.');
    if (callbacks.length === limit || pushes.length === limit)
      context.note(`These are at most ${limit} of each kind; --limit shows more.`);
  });
}

async function findCallbacks(
  database: Database,
  name: StateName | undefined,
  limit: number,
): Promise<CallbackSummary[]> {
  const wanted = name === undefined ? [undefined] : states[name].callbacks;
  const found = await Promise.all(
    wanted.map((state) => listCallbacks(database, { state, limit, offset: 0 })),
  );
  return found
    .flat()
    .sort((one, other) => other.id - one.id)
    .slice(0, limit);
}

const header = ['ID', 'STATE', 'RECEIVER', 'WHAT', 'ATTEMPTS', 'NEXT', 'LAST ERROR'];

function callbackRow(callback: CallbackSummary): string[] {
  const { id, state, destination, action, messageId, attempts, dueAt, lastError } = callback;
  return [
    `callback-${id}`,
    state,
    destination,
    `${action} ${messageId}`,
    String(attempts),
    time(dueAt),
    lastError ?? '',
  ];
}

function pushRow(push: PushSummary): string[] {
  const { id, state, subscriber, catalogId, acknowledgedVersion, version, attempts, dueAt, lastError } = push;
  const what = `${catalogId} (has ${acknowledgedVersion ?? 'nothing'} of ${version})`;
  return [`push-${id}`, state, subscriber, what, String(attempts), time(dueAt), lastError ?? ''];
}

function time(at: Date | null): string {
  return at?.toISOString() ?? '-';
}

async function replayOne(context: CommandContext, { kind, id }: DeliveryId): Promise<void> {
  await withDatabase(context, async (database, config) => {
    const replayed =
      kind === 'push'
        ? (await replayPushes(database, id)) > 0
        : await replayCallback(database, id, config.RETRY_HOURS * hourMs);
    if (!replayed) throw new CommandError(`${kind}-${id} is not parked. See: signpost deliveries list`);
    context.print(`${kind}-${id} will be tried again.`);
  });
}

async function replayAll(context: CommandContext): Promise<void> {
  await withDatabase(context, async (database, config) => {
    const giveUpAfterMs = config.RETRY_HOURS * hourMs;
    let callbacks = 0;
    for (;;) {
      const parked = await findCallbacks(database, 'parked', replayBatch);
      for (const { id } of parked) callbacks += (await replayCallback(database, id, giveUpAfterMs)) ? 1 : 0;
      if (parked.length < replayBatch) break;
    }
    const pushes = await replayPushes(database);
    context.print(`Will be tried again: ${callbacks} callbacks, ${pushes} pushes.`);
  });
}

const replayBatch = 500;
const hourMs = 3_600_000;

interface DeliveryId {
  kind: 'callback' | 'push';
  id: number;
}

function parseDeliveryId(text: string): DeliveryId {
  const [, kind, id] = /^(callback|push)-(\d{1,15})$/.exec(text) ?? [];
  if (kind !== undefined) return { kind: kind === 'push' ? 'push' : 'callback', id: Number(id) };
  throw new InvalidArgumentError('It is an id as "signpost deliveries list" shows it, such as push-7.');
}

function parseStateName(text: string): StateName {
  if (Object.hasOwn(states, text)) return text as StateName;
  throw new InvalidArgumentError(`It is one of ${Object.keys(states).join(', ')}.`);
}

import { type Command, InvalidArgumentError } from 'commander';
import { deliveryStates } from '../console/answers/network.ts';
import {
  type DeliveryId,
  type DeliveryState,
  parseDeliveryId,
  renderDeliveryId,
  replayDelivery,
  replayParked,
  skipDelivery,
} from '../console/deliveries.ts';
import { identityOf } from '../protocol/identity.ts';
import { listPushes, type PushSummary } from '../storage/catalog/push-list.ts';
import { type CallbackSummary, listCallbacks } from '../storage/work/callback-list.ts';
import { act } from './acting.ts';
import { parseCount, parseSubscriber } from './arguments.ts';
import { type CommandContext, CommandError, printResult, renderTable } from './command.ts';
import { withDatabase } from './database.ts';

// The operator's view of what leaves the node: callbacks and pushes, what became of them, and another try for what was parked.

export function registerDeliveriesCommand(program: Command, context: CommandContext): void {
  const deliveries = program.command('deliveries').addHelpText('after', examples);

  deliveries
    .command('list')
    .description('list callbacks, the latest first, and pushes by subscriber and catalog')
    .option('--state <state>', `only ${deliveryStates.join(', ')}`, parseStateName)
    .option('--subscriber <subscriber>', 'only pushes to this subscriber', parseSubscriber)
    .option('--limit <count>', 'at most so many of each kind', parseCount, 100)
    .option('--json', 'print JSON')
    .action((options: ListOptions) => list(context, options));

  deliveries
    .command('replay')
    .description('try parked deliveries again: one, or all')
    .argument('[id]', 'as listed, such as push-7 or callback-12', readDeliveryId)
    .option('--all', 'all that are parked')
    .option('--json', 'print JSON')
    .action((id: DeliveryId | undefined, { all = false, json }: { all?: boolean; json?: boolean }) => {
      if ((id === undefined) !== all) throw new CommandError('Name one delivery to replay, or say --all.');
      return id === undefined ? replayAll(context, json) : replayOne(context, id, json);
    });

  deliveries
    .command('skip')
    .description(
      'give up a delivery that waits or is parked; the next change of a catalog is pushed all the same',
    )
    .argument('<id>', 'as listed, such as push-7 or callback-12', readDeliveryId)
    .option('--json', 'print JSON')
    .action((id: DeliveryId, { json }: { json?: boolean }) => skip(context, id, json));
}

const examples = `
Examples:
  $ signpost deliveries list --state parked
  $ signpost deliveries list --subscriber ds.example.com
  $ signpost deliveries replay push-7
  $ signpost deliveries replay --all
  $ signpost deliveries skip callback-12

A callback is sent again as it was; a push is computed anew from what the subscriber has acknowledged.
FORM says what was sent last: full, or strict for receivers whose schemas are closed.
They work on the database that the settings name: DATABASE_URL, or the embedded one under DATA_DIR.`;

interface ListOptions {
  state?: DeliveryState;
  subscriber?: string;
  limit: number;
  json?: boolean;
}

async function list(context: CommandContext, { state, subscriber, limit, json }: ListOptions): Promise<void> {
  await withDatabase(context, async (database, config) => {
    const callbacks = subscriber === undefined ? await listCallbacks(database, { state, limit }) : [];
    const pushes = await listPushes(database, {
      subscriber: subscriber && identityOf(subscriber, config.REGISTRY_NAME),
      ...{ state, limit },
    });
    if (json) return context.print(JSON.stringify({ callbacks, pushes }, null, 2));
    const rows = [...callbacks.map(callbackRow), ...pushes.map(pushRow)];
    context.print(rows.length > 0 ? renderTable(header, rows) : 'There is no such delivery.');
    if (callbacks.length === limit || pushes.length === limit)
      context.note(`These are at most ${limit} of each kind; --limit shows more.`);
  });
}

const header = ['ID', 'STATE', 'RECEIVER', 'WHAT', 'FORM', 'ATTEMPTS', 'NEXT', 'LAST ERROR'];

function callbackRow(callback: CallbackSummary): string[] {
  const { id, state, form, destination, action, messageId, attempts, dueAt, lastError } = callback;
  return [
    `callback-${id}`,
    state,
    destination,
    `${action} ${messageId}`,
    form ?? '-',
    String(attempts),
    time(dueAt),
    lastError ?? '',
  ];
}

function pushRow(push: PushSummary): string[] {
  const { id, state, form, subscriber, catalogId, acknowledgedVersion, version } = push;
  const { attempts, dueAt, lastError } = push;
  const what = `${catalogId} (has ${acknowledgedVersion ?? 'nothing'} of ${version})`;
  return [
    ...[`push-${id}`, state, subscriber, what, form ?? '-'],
    ...[String(attempts), time(dueAt), lastError ?? ''],
  ];
}

function time(at: Date | null): string {
  return at?.toISOString() ?? '-';
}

async function replayOne(context: CommandContext, id: DeliveryId, json?: boolean): Promise<void> {
  const shown = renderDeliveryId(id);
  await withDatabase(context, (database, config) =>
    act(context, database, (acting) => replayDelivery(acting, acting.by, id, config), advice),
  );
  printResult(context, json, { id: shown, state: 'open' }, `${shown} will be tried again.`);
}

async function replayAll(context: CommandContext, json?: boolean): Promise<void> {
  const { callbacks, pushes } = await withDatabase(context, (database, { RETRY_HOURS }) =>
    act(context, database, (acting) => replayParked(acting, acting.by, { RETRY_HOURS }), advice),
  );
  const text = `Will be tried again: ${callbacks} callbacks, ${pushes} pushes.`;
  printResult(context, json, { callbacks, pushes }, text);
}

async function skip(context: CommandContext, id: DeliveryId, json?: boolean): Promise<void> {
  const shown = renderDeliveryId(id);
  await withDatabase(context, (database) =>
    act(context, database, (acting) => skipDelivery(acting, acting.by, id), advice),
  );
  printResult(context, json, { id: shown, state: 'skipped' }, `${shown} is skipped.`);
}

const advice = 'See: signpost deliveries list';

function readDeliveryId(text: string): DeliveryId {
  const id = parseDeliveryId(text);
  if (id) return id;
  throw new InvalidArgumentError('It is an id as "signpost deliveries list" shows it, such as push-7.');
}

function parseStateName(text: string): DeliveryState {
  const state = deliveryStates.find((name) => name === text);
  if (state) return state;
  throw new InvalidArgumentError(`It is one of ${deliveryStates.join(', ')}.`);
}

import { deliveryStates } from '../console/answers/network.ts';
import {
  type Delivery,
  type DeliveryId,
  type DeliveryState,
  findDelivery,
  listDeliveries,
  parseDeliveryId,
  renderDeliveryId,
  replayDelivery,
  replayParked,
  skipDelivery,
} from '../console/deliveries.ts';
import { identityOf } from '../protocol/identity.ts';
import { oneOf, parseCount, parserOf, parseSubscriber } from './arguments.ts';
import { type CommandContext, CommandError, printResult, type Register, renderTable } from './command.ts';
import { act, withDatabase } from './database.ts';

const readDeliveryId = parserOf(
  parseDeliveryId,
  'Use an id from "signpost deliveries list", such as push-7.',
);

export const register: Register = (program, context) => {
  const deliveries = program.command('deliveries').addHelpText('after', examples);

  deliveries
    .command('list')
    .description('list callbacks and pushes by receiver: parked ones first, then open and delivered ones')
    .option('--state <state>', `only ${deliveryStates.join(', ')}`, oneOf(deliveryStates))
    .option('--subscriber <subscriber>', 'only pushes to this subscriber', parseSubscriber)
    .option('--limit <count>', 'list at most this many', parseCount, 100)
    .action((options: ListOptions) => list(context, options));

  deliveries
    .command('show')
    .description('show a delivery with its last requests and their answers')
    .argument('<id>', 'as listed, such as push-7 or callback-12', readDeliveryId)
    .action((id: DeliveryId) => show(context, id));

  deliveries
    .command('replay')
    .description('try parked deliveries again: one, or all')
    .argument('[id]', 'as listed, such as push-7 or callback-12', readDeliveryId)
    .option('--all', 'all parked deliveries')
    .action((id: DeliveryId | undefined, { all = false }: { all?: boolean }) => {
      if ((id === undefined) !== all) throw new CommandError('Name one delivery to replay, or add --all.');
      return id === undefined ? replayAll(context) : replayOne(context, id);
    });

  deliveries
    .command('skip')
    .description('give up a waiting or parked delivery; the next change of a catalog is still pushed')
    .argument('<id>', 'as listed, such as push-7 or callback-12', readDeliveryId)
    .action((id: DeliveryId) => skip(context, id));
};

const examples = `
Examples:
  $ signpost deliveries list --state parked
  $ signpost deliveries list --subscriber ds.example.com
  $ signpost deliveries show push-7
  $ signpost deliveries replay push-7
  $ signpost deliveries replay --all
  $ signpost deliveries skip callback-12

A callback is sent again unchanged; a push is computed again from what the subscriber has acknowledged.
FORM is what was sent last: full, or strict for receivers with closed schemas.
These commands use DATABASE_URL, or the embedded database in DATA_DIR.`;

interface ListOptions {
  state?: DeliveryState;
  subscriber?: string;
  limit: number;
}

async function list(context: CommandContext, { state, subscriber, limit }: ListOptions): Promise<void> {
  await withDatabase(context, async (database, config) => {
    const receiver = subscriber && identityOf(subscriber, config.REGISTRY_NAME);
    const { items, next } = await listDeliveries(database, { receiver, state, limit });
    const rows = groupByReceiver(items).map(row);
    const text = rows.length > 0 ? renderTable(header, rows) : 'There is no such delivery.';
    printResult(context, { deliveries: items }, text);
    if (next) context.note(`There are more than ${limit}; --limit shows more.`);
  });
}

function groupByReceiver(items: readonly Delivery[]): Delivery[] {
  const receivers = new Set(items.map(({ receiver }) => receiver));
  return [...receivers].flatMap((receiver) => items.filter((item) => item.receiver === receiver));
}

const header = ['ID', 'STATE', 'RECEIVER', 'WHAT', 'FORM', 'ATTEMPTS', 'FAILING SINCE', 'NEXT', 'LAST ERROR'];

function row(delivery: Delivery): string[] {
  const { id, detail, receiver, form, attempts, failingSince, nextTryAt, lastError } = delivery;
  return [
    ...[id, detail, receiver, describe(delivery), form ?? '-'],
    ...[String(attempts), time(failingSince), time(nextTryAt), lastError ?? ''],
  ];
}

function describe({ action, about, acknowledgedVersion, version }: Delivery): string {
  if (version === undefined) return `${action} ${about}`;
  return `${about} (version ${version}, acknowledged: ${acknowledgedVersion ?? 'none'})`;
}

async function show(context: CommandContext, id: DeliveryId): Promise<void> {
  const shown = renderDeliveryId(id);
  const delivery = await withDatabase(context, (database) => findDelivery(database, id));
  if (!delivery) throw new CommandError(`There is no delivery ${shown}. ${advice}`);
  const { history, lastStatus } = delivery;
  const requests = history.map(
    ({ at, durationMs, url, status, answer, request }) =>
      `\n${at}  ${status ?? 'no answer'}  ${durationMs} ms  ${url}\n  answer:  ${visible(answer)}\n  request: ${visible(request)}`,
  );
  const none = `\nNo request of it has failed. Last status: ${lastStatus ?? 'none yet'}.`;
  const text = [renderTable(header, [row(delivery)]), ...(history.length > 0 ? requests : [none])];
  printResult(context, delivery, text.join('\n'));
}

/** The text comes from a receiver: control characters become spaces. */
function visible(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}

function time(at?: Date): string {
  return at?.toISOString() ?? '-';
}

async function replayOne(context: CommandContext, id: DeliveryId): Promise<void> {
  await act(context, advice, (acting, config) => replayDelivery(acting, acting.by, id, config));
  const shown = renderDeliveryId(id);
  printResult(context, { id: shown, state: 'open' }, `${shown} will be tried again.`);
}

async function replayAll(context: CommandContext): Promise<void> {
  const replayed = await act(context, advice, (acting, config) => replayParked(acting, acting.by, config));
  const text = `To be retried: ${replayed.callbacks} callbacks, ${replayed.pushes} pushes.`;
  printResult(context, replayed, text);
}

async function skip(context: CommandContext, id: DeliveryId): Promise<void> {
  await act(context, advice, (acting) => skipDelivery(acting, acting.by, id));
  const shown = renderDeliveryId(id);
  printResult(context, { id: shown, state: 'skipped' }, `Skipped ${shown}.`);
}

const advice = 'See: signpost deliveries list';

import fc from 'fast-check';
import { settings } from '../../../src/setting-table.ts';
import { type Changed, renderChanged } from '../changed.ts';
import { hostileText } from '../hostile-values.ts';
import { type ByteMutation, byteMutations, bytesSometimes, mutateBytes } from '../mutate-bytes.ts';
import { type Mutation, mutateText, mutations } from '../mutate-json.ts';
import { type Folder, runCommand, withFolder } from '../run-command.ts';
import type { Scene } from '../scene.ts';
import { accepted, type Target } from '../target.ts';
import { settingsIn } from './imported-lists.ts';

// Other inputs of commands: settings, key files, options, and the answers of services that they call.

type InputCase =
  | { command: 'config'; given: readonly [name: string, value: string][] }
  | { command: 'keys'; seed: readonly ByteMutation[]; current: string }
  | { command: 'discover'; options: readonly string[]; answer: Answer }
  | { command: 'send'; request: readonly Mutation[]; seed: readonly ByteMutation[]; answer: Answer };

interface Answer extends Changed {
  status: number;
}

const answer: fc.Arbitrary<Answer> = fc.record({
  status: fc.constantFrom(200, 200, 202, 204, 301, 400, 401, 404, 429, 500, 503),
  ...{ content: mutations, bytes: bytesSometimes() },
});

/** Some values that are valid for one kind of setting or another. */
const plausible = ['1', '0', 'true', 'off', 'all', '[]', '["a.example/b"]', 'http://127.0.0.1:1', 'catalog'];
const names = Object.keys(settings);
const optionNames = ['--near', '--within', '--where', '--network', '--schema', '--limit', '--offset'];

export const commandInputs: Target<InputCase> = {
  name: 'settings, keys, options and answers given to commands',
  weight: 6,
  concurrency: 4,
  cases: fc.oneof(
    fc.record({
      command: fc.constant('config' as const),
      given: fc.array(
        fc.tuple(
          fc.oneof(
            { weight: 9, arbitrary: fc.constantFrom(...names) },
            { weight: 1, arbitrary: fc.constantFrom(...names).map((name) => name.replace(/_./, '')) },
          ),
          fc.oneof(hostileText, fc.constantFrom(...plausible)),
        ),
        { minLength: 1, maxLength: 6 },
      ),
    }),
    fc.record({ command: fc.constant('keys' as const), seed: byteMutations, current: hostileText }),
    fc.record({
      command: fc.constant('discover' as const),
      options: fc
        .array(fc.tuple(fc.constantFrom(...optionNames), hostileText), { maxLength: 3 })
        .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`)),
      answer,
    }),
    fc.record({ command: fc.constant('send' as const), request: mutations, seed: bytesSometimes(), answer }),
  ),
  run: (scene, one, id) => withFolder(scene, (folder) => runWith(scene, one, { folder, id })),
};

interface Place {
  folder: Folder;
  id: string;
}

async function runWith(scene: Scene, one: InputCase, place: Place): Promise<string> {
  switch (one.command) {
    case 'config':
      return outcomeOf(await runCommand(scene, ['config', 'check', '--json'], Object.fromEntries(one.given)));
    case 'keys':
      return showKeys(scene, one, place);
    case 'discover':
      return discover(scene, one, place);
    case 'send':
      return send(scene, one, place);
  }
}

function outcomeOf({ exitCode }: { exitCode: number }): string {
  return exitCode === 0 ? accepted : `exit code ${exitCode}`;
}

async function showKeys(
  scene: Scene,
  { seed, current }: InputCase & { command: 'keys' },
  { folder }: Place,
): Promise<string> {
  const { application } = scene.participants;
  await folder.write(
    `data/keys/${application.id}.key-1.seed`,
    mutateBytes(Buffer.from(application.seed), seed),
  );
  await folder.write(`data/keys/${application.id}.current`, current);
  const run = (...args: string[]) => runCommand(scene, ['keys', ...args, '--json'], settingsIn(folder));
  await run('list');
  const shown = await run('show', application.id);
  return outcomeOf(shown);
}

async function discover(
  scene: Scene,
  { options, answer: how }: InputCase & { command: 'discover' },
  { folder, id }: Place,
): Promise<string> {
  const { application } = scene.participants;
  return withAnswer(scene, `/${id}/discover`, how, async (base) => {
    const who = ['--as', application.id, '--key', application.seed];
    const where = ['--to', base, '--listen', '127.0.0.1:0', '--wait', '0'];
    const args = ['discover', 'tea', ...options, ...who, ...where, '--json'];
    return outcomeOf(await runCommand(scene, args, settingsIn(folder)));
  });
}

async function send(
  scene: Scene,
  { request, seed, answer: how }: InputCase & { command: 'send' },
  { folder, id }: Place,
): Promise<string> {
  const { application } = scene.participants;
  const body = { context: { action: 'discover' }, message: { intent: { textSearch: 'tea' } } };
  const file = await folder.write('request.json', mutateText(body, request));
  const key = await folder.write('seed', mutateBytes(Buffer.from(application.seed), seed));
  return withAnswer(scene, `/${id}/discover`, how, async (base) => {
    const args = ['send', file, '--to', `${base}/discover`, '--as', application.id, '--key', key, '--json'];
    return outcomeOf(await runCommand(scene, args, settingsIn(folder)));
  });
}

/** Sets a service's answer for this path during the work. */
async function withAnswer(
  { services }: Scene,
  path: string,
  { status, ...how }: Answer,
  work: (base: string) => Promise<string>,
): Promise<string> {
  const truth = { context: { messageId: 'm' }, message: { status: 'ACK' } };
  services.answer(path, () => ({ status, body: renderChanged(truth, how) }));
  try {
    return await work(services.url + path.slice(0, path.lastIndexOf('/')));
  } finally {
    services.answer(path, undefined);
  }
}

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { identityOf } from '../../../src/protocol/identity.ts';
import { publicKeyOf } from '../../../src/protocol/keys.ts';
import { signRequest } from '../../../src/protocol/request-signature.ts';
import { samplePublishMessage } from '../../support/catalogs/sample-messages.ts';
import { sampleCatalog } from '../../support/hosted/hosted-documents.ts';
import { type Changed, changed, renderChanged } from '../changed.ts';
import { buildTree, type TreeCase } from '../hosted-tree.ts';
import { type ByteMutation, byteMutations, mutateBytes } from '../mutate-bytes.ts';
import { network, registryName } from '../participants.ts';
import { type CommandOutcome, type Folder, runCommand, withFolder } from '../run-command.ts';
import type { Scene } from '../scene.ts';
import { accepted, Fault, type Target } from '../target.ts';
import { treeCases } from './crawled-files.ts';
import { settingsIn } from './imported-lists.ts';

// Files that users pass to commands: messages to `debug signature`, published trees to `verify`, catalogs to `publish` and `schema check`.

type FileCase =
  | { command: 'debug signature'; message: readonly ByteMutation[]; answered?: readonly ByteMutation[] }
  | { command: 'verify'; tree: TreeCase }
  | { command: 'publish' | 'schema check'; sample: number; changed: Changed; again?: Changed };

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const attributes = JSON.parse(
  readFileSync(
    fileURLToPath(
      new URL('../../../schemas/EnergyResourceEVCharger/v1.1/examples/charger.json', import.meta.url),
    ),
    'utf8',
  ),
);
const samples: readonly unknown[] = [
  sampleCatalog,
  { message: samplePublishMessage() },
  [sampleCatalog, { ...sampleCatalog, id: 'another' }],
  { retire: ['c1'], pause: ['c2'], resume: [], forceBaseline: true },
  attributes,
];

export const commandFiles: Target<FileCase> = {
  name: 'files given to commands',
  weight: 8,
  concurrency: 4,
  cases: fc.oneof(
    fc.record({
      command: fc.constant('debug signature' as const),
      message: byteMutations,
      answered: maybe(byteMutations),
    }),
    fc.record({ command: fc.constant('verify' as const), tree: treeCases }),
    fc.record({
      command: fc.constantFrom('publish' as const, 'schema check' as const),
      sample: fc.nat(samples.length - 1),
      ...{ changed, again: maybe(changed) },
    }),
  ),
  run: (scene, one) => withFolder(scene, (folder) => runOn(scene, one, folder)),
};

function runOn(scene: Scene, one: FileCase, folder: Folder): Promise<string> {
  switch (one.command) {
    case 'debug signature':
      return debugSignature(scene, one, folder);
    case 'verify':
      return verifyTree(scene, one, folder);
    case 'publish':
      return publishFiles(scene, one, folder);
    case 'schema check':
      return checkFile(scene, one, folder);
  }
}

async function debugSignature(
  scene: Scene,
  { message, answered }: FileCase & { command: 'debug signature' },
  folder: Folder,
): Promise<string> {
  const { application, discovery } = scene.participants;
  const now = new Date();
  const request = signRequest(application.key, Buffer.from('{}'), { now });
  const body = Buffer.from(JSON.stringify({ context: { messageId: randomUUID() }, message: { name: 'é' } }));
  const authorization = signRequest(discovery.key, body, { now });
  const render = (header: string) =>
    Buffer.from(`POST /on_discover HTTP/1.1\r\nAuthorization: ${header}\r\nContent-Type: application/json`);
  const whole = Buffer.concat([render(authorization), Buffer.from('\r\n\r\n'), body]);
  const file = await folder.write('message.http', mutateBytes(whole, message));
  const answering = answered
    ? ['--answering', await folder.write('request.http', mutateBytes(render(request), answered))]
    : [];
  const outcome = await runCommand(scene, ['debug', 'signature', file, ...answering, '--json'], {});
  if (outcome.refusal === undefined) JSON.parse(outcome.out);
  return outcome.exitCode === 0 ? accepted : 'exit code 1';
}

async function verifyTree(
  scene: Scene,
  { tree }: FileCase & { command: 'verify' },
  folder: Folder,
): Promise<string> {
  const { provider } = scene.participants;
  const identity = identityOf(provider.id, registryName);
  const key = { ...provider.key, subscriberId: identity };
  const node = { id: provider.id, identity, key, base: 'https://files.fuzz.test', networkIds: [network] };
  const { files, isTampered } = buildTree(node, tree, 'catalog-1');
  for (const [path, bytes] of files) await folder.write(`tree${path}`, bytes);
  const publicKey = publicKeyOf(provider.key.privateKey);
  const args = ['verify', `${folder.path}/tree`, '--key', `key-1=${publicKey}`, '--json'];
  const outcome = await runCommand(scene, args, {});
  if (outcome.refusal === undefined) JSON.parse(outcome.out);
  if (outcome.exitCode !== 0) return 'exit code 1';
  if (isTampered && namedByDigest.includes(tree.kind))
    throw new Fault(`verify takes a ${tree.kind} whose digest does not fit`);
  return accepted;
}

/** The signature of other documents covers their content, so another spelling is also valid. */
const namedByDigest: readonly string[] = ['record', 'baseline', 'change'];

async function publishFiles(
  scene: Scene,
  { sample, changed: first, again }: FileCase & { command: 'publish' | 'schema check' },
  folder: Folder,
): Promise<string> {
  const { publisher } = scene.participants;
  const env = {
    ...settingsIn(folder),
    ...{ PUBLISHER_ID: publisher.id, PUBLISHER_PRIVATE_KEY: publisher.seed, PUBLISHER_KEY_ID: 'key-1' },
    // Nothing listens there: neither a publisher nor a server of the files.
    ...{ PUBLISHER_TRIGGER_PORT: '1', PUBLISHER_URL: 'http://127.0.0.1:1' },
  };
  const file = await folder.write('catalogs.json', renderChanged(samples[sample], first));
  const publish = (name: string) => runCommand(scene, ['publish', name, '--self', '--json'], env);
  const outcome = await publish(file);
  if (again) await publish(await folder.write('again.json', renderChanged(samples[sample], again)));
  const key = `key-1=${publicKeyOf(publisher.key.privateKey)}`;
  const verified = await runCommand(scene, ['verify', '--key', key, '--json'], env);
  if (verified.exitCode !== 0 && !isNothingPublished(verified))
    throw new Fault(`what was published does not verify: ${verified.refusal ?? verified.out}`.slice(0, 900));
  return outcome.exitCode === 0 ? accepted : 'exit code 1';
}

/** Whether there is no tree, or one without a catalog yet. */
function isNothingPublished({ refusal, out }: CommandOutcome): boolean {
  if (refusal !== undefined) return refusal.includes('is not a published tree');
  const { faults } = JSON.parse(out) as { faults: { code: string }[] };
  return faults.every(({ code }) => code === 'no-index-urls');
}

async function checkFile(
  scene: Scene,
  { sample, changed: how, again }: FileCase & { command: 'publish' | 'schema check' },
  folder: Folder,
): Promise<string> {
  const file = await folder.write('document.json', renderChanged(samples[sample], how));
  const template = again ? ['--template'] : [];
  const outcome = await runCommand(
    scene,
    ['schema', 'check', file, ...template, '--json'],
    settingsIn(folder),
  );
  if (outcome.refusal === undefined) JSON.parse(outcome.out);
  return outcome.exitCode === 0 ? accepted : 'exit code 1';
}

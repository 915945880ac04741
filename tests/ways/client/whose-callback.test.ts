import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register as registerDiscoverCommand } from '../../../src/cli/discover.ts';
import { register as registerPublishCommand } from '../../../src/cli/publish.ts';
import { register as registerSendCommand } from '../../../src/cli/send.ts';
import { publicKeyOf } from '../../../src/protocol/keys.ts';
import { registerParticipant } from '../../../src/storage/registry/participants.ts';
import { smallCatalog } from '../../support/hosted/publisher.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';
import {
  ackOf,
  callBack,
  createDirectory,
  type Participant,
  type PeerService,
  startPeerService,
} from '../../support/peers/peer-services.ts';
import { type CommandRun, runCommand } from '../../support/processes/command.ts';
import { useDirectory } from '../../support/processes/publish-command.ts';
import { until } from '../../support/time.ts';

// Commands that wait for a callback, and a registered participant that answers in place of the service: the rule of the client package applies
// (packages/client/README.md, "Whose callback counts").

const { write } = useDirectory();
const { register } = createDirectory();
let network: TestNetwork;
let peer: PeerService;
let service: Participant;
let neighbour: Participant;
let mallory: Participant;
let settings: Record<string, string>;

beforeAll(async () => {
  network = await startNetwork({ settings: { ROLES: 'registry,publisher', LOG_LEVEL: 'silent' } });
  peer = await startPeerService();
  service = await registerAt('service', `${peer.url}/beckn`);
  neighbour = await registerAt('neighbour', `${peer.url}/neighbour`);
  mallory = await registerAt('mallory', 'http://127.0.0.1:9');
  const { DATA_DIR, registryUrl, PUBLISHER_PORT, PUBLISHER_TRIGGER_PORT } = network.config;
  settings = {
    ...{ DATA_DIR, REGISTRY_URL: registryUrl, PUBLISHER_PORT: `${PUBLISHER_PORT}` },
    PUBLISHER_TRIGGER_PORT: `${PUBLISHER_TRIGGER_PORT}`,
  };
});
afterAll(async () => {
  peer?.close();
  await network?.close();
});

async function registerAt(name: string, url: string): Promise<Participant> {
  const participant = register(name, url);
  const { id: subscriberId, key } = participant;
  const names = { namespace: subscriberId, registryName: network.config.REGISTRY_NAME, subscriberId };
  const publicKey = publicKeyOf(key.privateKey);
  await registerParticipant(network.database, { ...names, url, key: { recordId: 'key-1', publicKey } });
  return participant;
}

interface Command {
  run(wait: string): Promise<CommandRun>;
  action: string;
  /** A callback that identifies its sender in the output of the command. */
  message(by: Participant): object;
}

const found = ({ id }: Participant) => ({
  catalogs: [{ ...smallCatalog('lamps'), descriptor: { name: `of ${id}` }, bppId: id }],
});
const commands: [string, Command][] = [
  [
    'discover',
    {
      run: (wait) =>
        runCommand(registerDiscoverCommand, ['discover', 'x', '--to', peer.url, '--wait', wait], settings),
      ...{ action: 'on_discover', message: found },
    },
  ],
  [
    'send --wait',
    {
      run(wait) {
        const file = write('discover.json', { message: { intent: { textSearch: 'x' } } });
        const args = ['send', file, '--to', peer.url, '--as', network.config.identities.consumer.id];
        return runCommand(registerSendCommand, [...args, '--action', 'discover', '--wait', wait], settings);
      },
      ...{ action: 'on_discover', message: found },
    },
  ],
  [
    'publish --to, through the publisher',
    {
      run(wait) {
        const args = ['publish', write('lamps.json', smallCatalog('lamps')), '--to', peer.url];
        return runCommand(registerPublishCommand, [...args, '--wait', wait], settings);
      },
      action: 'catalog/on_publish',
      message: ({ id }) => ({
        results: [{ catalogId: 'lamps', status: 'ACCEPTED', warnings: [{ code: 'X', message: `of ${id}` }] }],
      }),
    },
  ],
];

describe.each(commands)('a callback to signpost %s', (_name, { run, action, message }) => {
  /** The command's result while these callbacks are sent one after another, and the answers to them. */
  async function runAmong(
    callers: readonly Participant[],
    { early = false, signedBy, wait = '20' }: { early?: boolean; signedBy?: Participant; wait?: string },
  ) {
    const statuses: number[] = [];
    peer.answer = async (request) => {
      const callAll = async () => {
        for (const as of callers) {
          const shape = { lines: 'fourLines', action, message: message(as) } as const;
          statuses.push(await callBack(request, as, shape).catch(() => 0));
        }
      };
      if (early) await callAll();
      return { body: ackOf(request), signedBy, ...(!early && { afterwards: callAll }) };
    };
    const done = await run(wait);
    await until(() => statuses.length === callers.length, 'every callback to be answered');
    return { ...done, statuses };
  }

  it('counts only from a participant at the address that was asked, where the acknowledgement is not signed', async () => {
    for (const early of [false, true]) {
      const { exitCode, out, statuses } = await runAmong([mallory, service], { early });
      expect([exitCode, statuses]).toEqual([0, [403, 200]]);
      expect(out).toContain('of service.example.org');
      expect(out).not.toContain('mallory');
    }
  });

  it('counts so too where somebody else has signed the acknowledgement, which is noted', async () => {
    const { exitCode, statuses, notes } = await runAmong([mallory, service], { signedBy: mallory });
    expect([exitCode, statuses]).toEqual([0, [403, 200]]);
    expect(notes).toContain('The answer counts as unsigned: it was signed by mallory.example.org/');
  });

  it('does not count from a neighbour of the one that signed the acknowledgement, however early it is', async () => {
    const { exitCode, out } = await runAmong([neighbour, service], { early: true, signedBy: service });
    expect(exitCode).toBe(0);
    expect(out).toContain('of service.example.org');
    expect(out).not.toContain('neighbour');
  });

  it('is waited for in vain where only somebody else calls back, and the command says who', async () => {
    const { exitCode, notes, statuses } = await runAmong([mallory], { early: true, wait: '0' });
    expect([exitCode, statuses]).toEqual([1, [403]]);
    expect(notes).toContain(`No ${action} was accepted within 0 s. The last one was refused: ${peer.url}`);
    expect(notes).toContain('mallory.example.org');
  });
});

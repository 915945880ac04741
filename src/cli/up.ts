import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { identityOf, splitIdentity } from '../protocol/identity.ts';
import { publicKeyOf } from '../protocol/keys.ts';
import { loadOrCreateSigningKey } from '../registry/key-files.ts';
import type { Database } from '../storage/database.ts';
import { registerParticipant } from '../storage/participants.ts';
import type { CommandContext } from './command.ts';
import { runProcess } from './run-process.ts';

export function registerUpCommand(program: Command, context: CommandContext): void {
  program
    .command('up')
    .description('run every role with a demo network on this machine, until Ctrl-C')
    .addHelpText(
      'after',
      `
The database, the demo identities' keys and everything else live in DATA_DIR (default .signpost); delete it to start anew.
Private addresses and plain HTTP are allowed, as everything is on this machine.`,
    )
    .action(() => {
      const config = context.config(
        context.isSet('ALLOW_PRIVATE_ADDRESSES') ? {} : { ALLOW_PRIVATE_ADDRESSES: 'true' },
      );
      return runProcess(context, config, {
        prepare: (database) => registerDemoNetwork(database, config),
        started: () => context.print(firstSteps(config)),
      });
    });
}

/** Participants without an address: they are played by `signpost send`, whose callbacks may come back to any port. */
const demoActors = [
  { id: 'provider.signpost.test', type: 'BPP' },
  { id: 'consumer.signpost.test', type: 'BAP' },
] as const;

/** The roles of this process and the actors of the demo become participants of the own registry, keys included. */
async function registerDemoNetwork(database: Database, config: Config): Promise<void> {
  const { catalog, discovery } = config.identities;
  const participants = [
    { ...catalog, type: 'BPP' },
    { ...discovery, type: 'BAP' },
    ...demoActors.map((actor) => ({ ...actor, keyId: 'key-1' })),
  ];
  for (const participant of participants) {
    const key = loadOrCreateSigningKey(config.DATA_DIR, participant);
    await registerParticipant(database, {
      ...splitIdentity(identityOf(participant.id, config.REGISTRY_NAME)),
      subscriberId: participant.id,
      type: participant.type,
      url: 'url' in participant ? participant.url : undefined,
      networkIds: [config.DEFAULT_NETWORK_ID],
      key: { recordId: participant.keyId, publicKey: publicKeyOf(key.privateKey) },
      replaceKey: true,
    });
  }
}

function firstSteps(config: Config): string {
  const page = config.OPERATIONS_PORT === 0 ? 'docs' : 'openapi.json'; // which stays when the operator's pages move away
  return `
Signpost is up. In another terminal:
  npx signpost send examples/publish-chargers.json --as provider.signpost.test --to ${config.identities.catalog.url} --wait
  npx signpost send examples/search.json --as discovery.signpost.test --to ${config.identities.catalog.url}
API: ${config.identities.catalog.url}/${page}    Ctrl-C stops everything.`;
}

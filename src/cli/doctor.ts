import type { Command } from 'commander';
import { collectNetworks, parseSubscriber, parseUrl } from './arguments.ts';
import type { CommandContext } from './command.ts';
import type { DoctorOptions } from './doctor/run.ts';

export function registerDoctorCommand(program: Command, context: CommandContext): void {
  program
    .command('doctor')
    .argument('<node>', 'domain, subscriberId or address of the node', parseNode)
    .option('--network <id>', 'network that it is to be found in; may be repeated', collectNetworks)
    .option('--catalog <id>', 'only this catalog')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(async (node: string, options: DoctorOptions) =>
      (await import('./doctor/run.ts')).diagnose(node, options, context),
    );
}

const help = `
Walks the whole chain as a crawler does: registry, networks, manifest, Subscriber record, indexes, entries, files,
masters, states. What is wrong first is named at the end, and what to do about it. The registry is that of the
settings (REGISTRY_URL); --network stands for the networks of the discovery service (otherwise DISCOVERY_NETWORKS).
What that service takes is in the settings, too: REQUIRE_MANIFEST, ALLOW_UNSIGNED_INDEX, NETWORK_MEMBERSHIP,
MASTER_PUBLISHERS, UNKNOWN_CONTEXT, the limits of a crawl.
Where the key that signs is not the registered one, both are named; the keys of this machine are looked at, too (signpost
keys list).
Exit code: 0 when the catalogs can be found, 1 otherwise.

Examples:
  $ signpost doctor provider.example.org
  $ signpost doctor provider.example.org --catalog chargers-london --network nfh.global/beckn-nodes
  $ signpost doctor https://provider.example.org --json`;

function parseNode(text: string): string {
  return /^https?:/.test(text) ? parseUrl(text) : parseSubscriber(text);
}

import { collectNetworks, parseNode } from './arguments.ts';
import type { Register } from './command.ts';
import type { DoctorOptions } from './doctor/run.ts';

export const register: Register = (program, context) =>
  program
    .command('doctor')
    .argument('<node>', 'domain, subscriberId or address of the node', parseNode)
    .option(
      '--network <id>',
      'network in which to find it (default: DISCOVERY_NETWORKS); repeatable',
      collectNetworks,
    )
    .option('--catalog <id>', 'only this catalog')
    .addHelpText('after', help)
    .action(async (node: string, options: DoctorOptions) =>
      (await import('./doctor/run.ts')).diagnose(node, options, context),
    );

const help = `
Follows the chain as a crawler does: registry, networks, manifest, Subscriber record, indexes, entries, files, masters,
states. The last lines name the first error and what to do about it. As in the discovery service, settings decide what
is accepted: REGISTRY_URL, REQUIRE_MANIFEST, ALLOW_UNSIGNED_INDEX, NETWORK_MEMBERSHIP, MASTER_PUBLISHERS,
UNKNOWN_CONTEXT and the limits of a crawl. If the signing key is not the registered one, both are shown, together with
the keys of this machine. If this machine has the database of a discovery service (DATABASE_URL, or the embedded one in
DATA_DIR), the doctor also warns about chargers that another node publishes as well.
Exit codes: 0 the catalogs can be found; 1 otherwise.

Examples:
  $ signpost doctor provider.example.org
  $ signpost doctor provider.example.org --catalog chargers-london --network nfh.global/beckn-nodes
  $ signpost doctor https://provider.example.org --json`;

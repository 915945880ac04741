import type { Config } from '../../config.ts';
import { readDomain } from '../../discovery/crawl/read-node.ts';
import type { Reader } from '../../discovery/crawl/reader.ts';
import { isReadingFault } from '../../discovery/crawl/reasons.ts';
import { policyOf } from '../../discovery/crawl/settings.ts';
import { type Finding, fault, warning } from '../../discovery/inspect/findings.ts';
import { nameSigners } from '../../discovery/inspect/name-signers.ts';
import { examine, type Patient } from '../../discovery/inspect/walk.ts';
import { createGuardedClient, type GuardedClient } from '../../http/guarded-client.ts';
import { identityOf, isSubscriberId } from '../../protocol/identity.ts';
import type { RegistryClient } from '../../registry/client.ts';
import { spellDuplicates } from '../../rules/duplicates.ts';
import { createChainFetcher, createChainReader } from '../chain-reader.ts';
import { allowsPrivate, type CommandContext, CommandError, hasDatabase } from '../command.ts';
import { listLocalKeys } from '../local-keys.ts';
import { withRegistry } from '../send/exchange.ts';
import {
  createDiagnosis,
  type Diagnosis,
  firstTrouble,
  noteFinding,
  renderDiagnosis,
  renderLine,
} from './report.ts';

export interface DoctorOptions {
  network?: string[];
  catalog?: string;
  json?: boolean;
}

export async function diagnose(name: string, options: DoctorOptions, context: CommandContext): Promise<void> {
  const diagnosis = await diagnoseNode(name, options, context, (finding) => {
    if (!options.json) context.print(renderLine(finding));
  });
  if (firstTrouble(diagnosis)) context.setExitCode(1);
  context.print(
    options.json
      ? JSON.stringify({ isFound: !firstTrouble(diagnosis), ...diagnosis }, null, 2)
      : renderDiagnosis(diagnosis),
  );
}

/** @param onFinding called for each link of the chain as it is looked at */
export async function diagnoseNode(
  name: string,
  options: DoctorOptions,
  context: CommandContext,
  onFinding: (finding: Finding) => void,
): Promise<Diagnosis> {
  const config = context.config();
  const client = createGuardedClient({
    allowPrivateAddresses: allowsPrivate(config, context),
    nameServers: config.DNS_SERVERS,
  });
  try {
    const diagnosis = await withRegistry(config, (registry) =>
      examineAll(name, options, { config, client, registry, onFinding }),
    );
    for (const finding of await findPublishedTwice(diagnosis.node, context)) {
      noteFinding(diagnosis, finding);
      onFinding(finding);
    }
    return diagnosis;
  } catch (error) {
    if (!isReadingFault(error) || error.code !== 'registry-unavailable') throw error;
    throw new CommandError(
      `The registry at ${config.registryUrl} cannot be asked. Start it, or set REGISTRY_URL.`,
      error,
    );
  } finally {
    await client.close();
  }
}

/** What other nodes publish too, as the discovery service of this machine knows it; nothing where it has none. */
async function findPublishedTwice(node: string, context: CommandContext): Promise<Finding[]> {
  if (!hasDatabase(context.config())) return [];
  const [{ withDatabase }, { readDuplicates }] = await Promise.all([
    import('../database.ts'),
    import('../../storage/console/duplicates.ts'),
  ]);
  const found = await withDatabase(context, readDuplicates).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    context.note(`Chargers that several nodes publish were not looked for. ${error.message}`);
    return [];
  });
  return found
    .filter(({ nodes }) => nodes.includes(node))
    .map((one) =>
      warning(
        { document: 'catalog' },
        'published-twice',
        `${spellDuplicates(one)} Ask them which one is right.`,
      ),
    );
}

interface Practice {
  config: Config;
  client: GuardedClient;
  registry: RegistryClient;
  onFinding(finding: Finding): void;
}

async function examineAll(name: string, options: DoctorOptions, practice: Practice): Promise<Diagnosis> {
  const { config, client, registry, onFinding } = practice;
  const fetcher = createChainFetcher(config, client);
  const reader = await createChainReader(config, { fetcher, registry });
  const policy = { ...policyOf(config), ...(options.network && { networkIds: options.network }) };
  const { signal } = new AbortController();
  const named = config.DISCOVERY_NODES.filter((one) => isSubscriberId(one));
  const exam = {
    ...{ reader, registry, policy, now: new Date(), signal },
    named: named.map((id) => identityOf(id, config.REGISTRY_NAME)),
  };
  const patient = await findPatient(name, options, reader, signal);
  const diagnosis = createDiagnosis(patient instanceof Error ? name : patient.identity);
  const tell = (finding: Finding) => {
    noteFinding(diagnosis, finding);
    onFinding(finding);
  };
  if (patient instanceof Error) tell(fault({ document: 'manifest', url: name }, patient));
  else {
    const keys = { exam, identity: patient.identity, localKeys: listLocalKeys(config) };
    for await (const finding of nameSigners(examine(exam, patient), keys)) tell(finding);
  }
  return diagnosis;
}

/** Behind an address stands whoever the manifest there names. */
async function findPatient(
  name: string,
  { catalog }: DoctorOptions,
  reader: Reader,
  signal: AbortSignal,
): Promise<Patient | Error> {
  const common = catalog === undefined ? {} : { catalogId: catalog };
  if (!/^https?:/.test(name)) return { identity: identityOf(name, reader.registryName), ...common };
  try {
    const domain = await readDomain(reader, new URL(name).origin, { isOperators: true, signal });
    return { identity: identityOf(domain, reader.registryName), address: name, ...common };
  } catch (error) {
    if (isReadingFault(error)) return error;
    throw error;
  }
}

import type { Config } from '../../config.ts';
import { readDomain } from '../../discovery/crawl/read-node.ts';
import type { Reader } from '../../discovery/crawl/reader.ts';
import { isReadingFault } from '../../discovery/crawl/reasons.ts';
import { policyOf } from '../../discovery/crawl/settings.ts';
import {
  type About,
  type Complaint,
  type Finding,
  fault,
  warning,
} from '../../discovery/inspect/findings.ts';
import { nameSigners } from '../../discovery/inspect/name-signers.ts';
import { examine } from '../../discovery/inspect/walk.ts';
import { createGuardedClient, type GuardedClient } from '../../http/guarded-client.ts';
import { identityOf, isSubscriberId } from '../../protocol/identity.ts';
import type { RegistryClient } from '../../registry/client.ts';
import { spellDuplicates } from '../../rules/duplicates.ts';
import { createChainFetcher, createChainReader, explainRegistry } from '../chain-reader.ts';
import { paintWord } from '../colour.ts';
import {
  allowsPrivate,
  type CommandContext,
  CommandError,
  counted,
  hasDatabase,
  oneLine,
  printResult,
} from '../command.ts';
import { listLocalKeys } from '../local-keys.ts';
import { withRegistry } from '../send/exchange.ts';

export interface DoctorOptions {
  network?: string[];
  catalog?: string;
}

export async function diagnose(name: string, options: DoctorOptions, context: CommandContext): Promise<void> {
  const diagnosis = await diagnoseNode(name, options, context, (finding) => {
    if (!context.json) context.print(renderLine(finding));
  });
  const isFound = !firstTrouble(diagnosis);
  if (!isFound) context.setExitCode(1);
  printResult(context, { isFound, ...diagnosis }, renderDiagnosis(diagnosis));
}

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
  const findings: Finding[] = [];
  const tell = (finding: Finding) => {
    findings.push(finding);
    onFinding(finding);
  };
  try {
    const node = await withRegistry(config, (registry) =>
      examineAll(name, options, { config, client, registry, tell }),
    );
    for (const finding of await findPublishedTwice(node, context)) tell(finding);
    return diagnosisOf(node, findings);
  } catch (error) {
    return explainRegistry(error, config, '. Start it, or set REGISTRY_URL.');
  } finally {
    await client.close();
  }
}

/** Chargers that other nodes publish too, according to the discovery service of this machine, if there is one. */
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
    .map((one) => `${spellDuplicates(one)} Ask them which one is right.`)
    .map((message) => warning({ document: 'catalog' }, 'published-twice', message));
}

interface Practice {
  config: Config;
  client: GuardedClient;
  registry: RegistryClient;
  tell(finding: Finding): void;
}

/** Returns the identity of the node, or the given name. */
async function examineAll(name: string, options: DoctorOptions, practice: Practice): Promise<string> {
  const { config, client, registry, tell } = practice;
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
  if (patient instanceof Error) {
    tell(fault({ document: 'manifest', url: name }, patient));
    return name;
  }
  const { identity } = patient;
  const keys = { exam, identity, localKeys: listLocalKeys(config) };
  for await (const finding of nameSigners(examine(exam, patient), keys)) tell(finding);
  return identity;
}

/** The manifest at an address names the node. */
async function findPatient(name: string, { catalog }: DoctorOptions, reader: Reader, signal: AbortSignal) {
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

type Diagnosis = ReturnType<typeof diagnosisOf>;

/** Faults break something. Hidden catalogs do not appear although nothing is broken. Warnings break nothing. */
function diagnosisOf(node: string, findings: readonly Finding[]) {
  const appear = ({ kind, document }: Finding) => kind === 'holds' && document === 'catalog';
  const appearing = findings.filter(appear).flatMap(({ catalogId = [] }) => catalogId);
  const of = (kind: Complaint['kind']) =>
    findings.filter((one): one is About & Complaint => one.kind === kind);
  return { node, appearing, faults: of('fault'), hidden: of('hidden'), warnings: of('warning') };
}

/** The fault to repair first. Catalogs hidden on purpose count only if nothing appears. */
function firstTrouble({ faults, hidden, appearing }: Diagnosis): (About & Complaint) | undefined {
  return faults[0] ?? (appearing.length === 0 ? hidden[0] : undefined);
}

const marks = { holds: '✓', fault: '✗', hidden: '–', warning: '!' } as const;

function renderLine(finding: Finding): string {
  const { kind, document, catalogId, url } = finding;
  const text = finding.kind === 'holds' ? finding.detail : `${finding.message} (${finding.code})`;
  const place = [catalogId, url].filter((part) => part !== undefined && !text.includes(part)).join(' ');
  return oneLine(
    `${paintWord(marks[kind])} ${document.padEnd(9)} ${[place, text].filter((part) => part !== '').join(': ')}`,
  );
}

function renderDiagnosis(diagnosis: Diagnosis): string {
  const { node, appearing, faults, hidden, warnings } = diagnosis;
  const trouble = firstTrouble(diagnosis);
  const total = new Set([...appearing, ...faults.flatMap(({ catalogId = [] }) => catalogId)]).size;
  const some = appearing.length < total ? `${appearing.length} of ` : '';
  const counts = `${some}${counted(total, 'catalog')} of ${node} can be found`;
  const others = [
    ...(hidden.length > 0 ? [`${counted(hidden.length, 'catalog')} hidden on purpose`] : []),
    ...(warnings.length > 0 ? [counted(warnings.length, 'warning')] : []),
  ].join(', ');
  const summary = `${counts}${others === '' ? '' : ` (${others})`}.`;
  if (!trouble) {
    const [first] = warnings;
    return [
      ...(first ? [`\nWarning: ${first.message}`, `  What to do: ${first.hint}`] : []),
      `${first ? '' : '\n'}${summary}`,
      'If one still does not appear, see the crawl log of that discovery service.',
    ].join('\n');
  }
  const { code, document, catalogId, message, hint } = trouble;
  const first =
    code === 'digest-mismatch' && catalogId ? `Restore the file, or publish ${catalogId} again. ` : '';
  const isAbsent = document === 'manifest' && ['unreachable', 'manifest-missing'].includes(code);
  return [
    `\nWhat is wrong: ${message}`,
    `  What to do: ${first}${hint}${isAbsent ? ' A node that publishes through a catalog service needs no files.' : ''}`,
    `${summary}${faults.length > 1 ? ` ${counted(faults.length, 'fault')}; this is the first.` : ''}`,
  ].join('\n');
}

import { fileURLToPath } from 'node:url';
import type { Config } from '../../config.ts';
import type { Complaint, Finding } from '../../discovery/inspect/findings.ts';
import { readAsCrawler } from '../../discovery/inspect/read-as-crawler.ts';
import { describeNode } from '../../discovery/inspect/verify-node.ts';
import { verifyTree } from '../../discovery/inspect/verify-tree.ts';
import { createConfiguredClient } from '../../http/guarded-client.ts';
import { parsePublicKey } from '../../protocol/keys.ts';
import type { RegistryClient } from '../../registry/client.ts';
import { createChainReader, explainRegistry } from '../chain-reader.ts';
import { paintWord } from '../colour.ts';
import { type CommandContext, CommandError, counted, oneLine, printResult, reasonOf } from '../command.ts';
import { withRegistry } from '../send/exchange.ts';
import { directorySource, type FileSource, httpSource } from './source.ts';

export interface VerifyOptions {
  key?: string[];
  node?: string;
  quiet?: boolean;
}

export async function verify(
  place: string | undefined,
  { key, node, quiet }: VerifyOptions,
  context: CommandContext,
): Promise<void> {
  const config = context.config();
  const report: VerifyReport = { node: '', holding: {}, faults: [], warnings: [] };
  const { holding, faults, warnings } = report;
  let expected = 0;
  const tell = () => context.note(`${holding.entry ?? 0} of ${expected} catalogs …`);
  const timer = setInterval(tell, progressMs);
  try {
    report.node = await verifyPlace(place ?? config.publisherDir, {
      ...{ config, keys: key, node },
      onIndex: (catalogs) => {
        expected += catalogs;
      },
      onFinding(finding) {
        if (finding.kind === 'holds') holding[finding.document] = (holding[finding.document] ?? 0) + 1;
        else (finding.kind === 'fault' ? faults : warnings).push(finding);
        if (!context.json && !(quiet && finding.kind === 'holds')) context.print(renderFinding(finding));
      },
    });
  } finally {
    clearInterval(timer);
  }
  const isHolding = faults.length === 0;
  if (!isHolding) context.setExitCode(1);
  printResult(context, { isHolding, ...report }, renderVerdict(report));
}

const progressMs = 5_000;

interface PlaceCheck {
  config: Config;
  keys?: readonly string[];
  node?: string;
  onIndex?(catalogs: number): void;
  onFinding(finding: Finding): void;
}

export async function verifyPlace(place: string, check: PlaceCheck): Promise<string> {
  const { config, keys } = check;
  const client = createConfiguredClient(config);
  try {
    const isUrl = /^https?:\/\//.test(place) && URL.canParse(place);
    const source = isUrl ? httpSource(place, config, client) : await directorySource(place);
    if (keys) return await verifySource(source, givenKeys(keys), check);
    return await withRegistry(config, (registry) => verifySource(source, registry, check));
  } catch (error) {
    const advice = ' for keys. Start it, set REGISTRY_URL, or give the keys: --key recordId=publicKey.';
    return explainRegistry(error, config, advice);
  } finally {
    await client.close();
  }
}

async function verifySource(
  source: FileSource,
  keys: KeySource,
  { config, node: named, onIndex, onFinding }: PlaceCheck,
): Promise<string> {
  const chain = await createChainReader(config, { fetcher: source.fetcher, registry: keys });
  const reader = readAsCrawler(chain, new AbortController().signal);
  // If nothing can be read, continuing reports the document and the reason.
  const otherwise = source.host?.replace(/:\d+$/, '') ?? config.PUBLISHER_ID;
  const node = await describeNode({ source, reader }, named, otherwise);
  for await (const finding of verifyTree({ source, reader, node, now: new Date(), onIndex }))
    onFinding(finding);
  return node.identity;
}

interface VerifyReport {
  node: string;
  holding: Record<string, number>;
  faults: (Finding & Complaint)[];
  warnings: (Finding & Complaint)[];
}

function renderFinding(finding: Finding): string {
  const { kind, document, catalogId, url } = finding;
  const mark = { holds: 'ok', fault: 'FAULT', warning: 'warn', hidden: 'warn' }[kind];
  const name = [catalogId, url === undefined ? undefined : placeOf(url)].filter((part) => part !== undefined);
  const text = finding.kind === 'holds' ? finding.detail : finding.message;
  return oneLine(
    `${paintWord(mark)}${' '.repeat(6 - mark.length)}${document.padEnd(9)} ${name.join('  ')}  ${text}`,
  );
}

function renderVerdict({ node, holding, faults, warnings }: VerifyReport): string {
  const { catalog = 0, ...documents } = holding;
  const count = Object.values(documents).reduce((sum, one) => sum + one, 0);
  const what = `${counted(count, 'document')}, ${counted(catalog, 'catalog')} of ${node}`;
  const doubts = warnings.length > 0 ? ` ${counted(warnings.length, 'warning')}: ${warnings[0]?.hint}` : '';
  const [first] = faults;
  if (!first) return `Everything is valid: ${what}.${doubts}`;
  const subject = [first.document, first.catalogId, first.url].filter((part) => part !== undefined).join(' ');
  return [
    `First broken link: ${subject}`,
    `  ${first.message} (${first.code})`,
    `  What to do: ${first.hint}`,
    `${counted(faults.length, 'fault')}. Valid: ${what}.`,
  ]
    .map(oneLine)
    .join('\n');
}

function placeOf(url: string): string {
  if (url.startsWith('file:')) return fileURLToPath(url);
  return URL.canParse(url) ? url : JSON.stringify(url);
}

/** Keys from the user instead of the registry, for a machine without a network. */
type KeySource = Pick<RegistryClient, 'findKey' | 'findSubscriber'>;

/** @param given each as `recordId=publicKey` */
function givenKeys(given: readonly string[]): KeySource {
  const keys = new Map(given.map(readKey));
  return {
    findSubscriber: async () => [],
    async findKey(subscriberId, recordId) {
      const publicKey = keys.get(recordId);
      if (!publicKey) return { kind: 'unknown-key', reason: 'no --key gives it' };
      const record = { subscriberId, recordId, networkMemberships: [], catalogIndexUrls: [] };
      return { kind: 'key', publicKey, record: { ...record, state: 'live' } };
    },
  };
}

function readKey(text: string) {
  const [, recordId = '', publicKey = ''] = /^([^=\s/]+)=(.+)$/s.exec(text) ?? [];
  try {
    return [recordId, parsePublicKey(publicKey)] as const;
  } catch (error) {
    throw new CommandError(`--key ${text} is not recordId=publicKey: ${reasonOf(error)}`, error);
  }
}

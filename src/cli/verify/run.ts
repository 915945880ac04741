import type { Config } from '../../config.ts';
import { askRegistry } from '../../discovery/crawl/reader.ts';
import { isReadingFault } from '../../discovery/crawl/reasons.ts';
import type { Finding } from '../../discovery/inspect/findings.ts';
import { findClaimedNode, type TreeSource } from '../../discovery/inspect/verify-node.ts';
import { verifyTree } from '../../discovery/inspect/verify-tree.ts';
import { createConfiguredClient, type GuardedClient } from '../../http/guarded-client.ts';
import { identityOf } from '../../protocol/identity.ts';
import { createChainReader } from '../chain-reader.ts';
import { type CommandContext, CommandError } from '../command.ts';
import { withRegistry } from '../send/exchange.ts';
import { givenKeys, type KeySource } from './keys.ts';
import { addFinding, createReport, renderFinding, renderVerdict, type VerifyReport } from './report.ts';
import { directorySource, httpSource } from './source.ts';

export interface VerifyOptions {
  key?: string[];
  node?: string;
  quiet?: boolean;
  json?: boolean;
}

export async function verify(
  place: string | undefined,
  { key, node, quiet, json }: VerifyOptions,
  context: CommandContext,
): Promise<void> {
  const config = context.config();
  let report = createReport('');
  const progress = startProgress(() => report, context);
  try {
    await verifyPlace(place ?? config.publisherDir, {
      ...{ config, keys: key, node },
      onNode: (identity) => {
        report = createReport(identity);
      },
      onIndex: progress.expect,
      onFinding(finding) {
        addFinding(report, finding);
        if (!json && !(quiet && finding.kind === 'holds')) context.print(renderFinding(finding));
      },
    });
  } finally {
    progress.stop();
  }
  const isHolding = report.faults.length === 0;
  if (!isHolding) context.setExitCode(1);
  context.print(json ? JSON.stringify({ isHolding, ...report }, null, 2) : renderVerdict(report));
}

interface PlaceCheck {
  config: Config;
  /** As --key gives them; otherwise the registry is asked. */
  keys?: readonly string[];
  /** Whose they must be; otherwise whoever they say they are of. */
  node?: string;
  onNode?(identity: string): void;
  onIndex?(catalogs: number): void;
  onFinding(finding: Finding): void;
}

/** Verifies a directory of published files, a node or an index; returns the identity of the node. */
export async function verifyPlace(place: string, check: PlaceCheck): Promise<string> {
  const { config, keys } = check;
  const client = createConfiguredClient(config);
  try {
    const source = await openSource(place, config, client);
    if (keys) return await verifySource(source, givenKeys(keys, new Date()), check);
    return await withRegistry(config, (registry) => verifySource(source, registry, check));
  } catch (error) {
    if (!isReadingFault(error) || error.code !== 'registry-unavailable') throw error;
    throw new CommandError(
      `The registry at ${config.registryUrl} cannot be asked for keys. Start it, set REGISTRY_URL, or give the keys: --key recordId=publicKey, or a file with the registry's answer.`,
      error,
    );
  } finally {
    await client.close();
  }
}

function openSource(place: string, config: Config, client: GuardedClient): TreeSource | Promise<TreeSource> {
  return /^https?:\/\//.test(place) && URL.canParse(place)
    ? httpSource(place, config, client)
    : directorySource(place);
}

async function verifySource(
  source: TreeSource,
  keys: KeySource,
  { config, node: named, onNode, onIndex = () => undefined, onFinding }: PlaceCheck,
): Promise<string> {
  const reader = await createChainReader(config, { fetcher: source.fetcher, registry: keys });
  const { signal } = new AbortController();
  const claimed = named ?? (await findClaimedNode({ source, reader, signal }));
  // Where nothing can be read, going on tells which document and why.
  const identity = identityOf(
    claimed ?? source.host?.replace(/:\d+$/, '') ?? config.PUBLISHER_ID,
    config.REGISTRY_NAME,
  );
  const [record] = await askRegistry(() => keys.findSubscriber(identity));
  const node = { identity, recordSubscriberId: record?.subscriberId, registryName: config.REGISTRY_NAME };
  onNode?.(identity);
  for await (const finding of verifyTree({ source, reader, node, now: new Date(), signal }, onIndex))
    onFinding(finding);
  return identity;
}

const progressMs = 5_000;

function startProgress(report: () => VerifyReport, context: CommandContext) {
  let expected = 0;
  const tell = () => context.note(`${report().holding.entry ?? 0} of ${expected} catalogs …`);
  const timer = setInterval(tell, progressMs);
  return {
    expect: (catalogs: number) => {
      expected += catalogs;
    },
    stop: () => clearInterval(timer),
  };
}

import type { Config } from '../../config.ts';
import { askRegistry } from '../../discovery/crawl/reader.ts';
import { isReadingFault } from '../../discovery/crawl/reasons.ts';
import { findClaimedNode, type TreeSource } from '../../discovery/inspect/verify-node.ts';
import { verifyTree } from '../../discovery/inspect/verify-tree.ts';
import { createGuardedClient, type GuardedClient } from '../../http/guarded-client.ts';
import { identityOf } from '../../protocol/identity.ts';
import { createChainReader } from '../chain-reader.ts';
import { type CommandContext, CommandError } from '../command.ts';
import { withRegistry } from '../send/exchange.ts';
import type { VerifyOptions } from '../verify.ts';
import { givenKeys, type KeySource } from './keys.ts';
import { addFinding, createReport, renderFinding, renderVerdict, type VerifyReport } from './report.ts';
import { directorySource, httpSource } from './source.ts';

export async function verify(
  place: string | undefined,
  options: VerifyOptions,
  context: CommandContext,
): Promise<void> {
  const config = context.config();
  const client = createGuardedClient({
    allowPrivateAddresses: config.ALLOW_PRIVATE_ADDRESSES,
    nameServers: config.DNS_SERVERS,
  });
  try {
    const source = await openSource(place ?? config.publisherDir, config, client);
    const report = options.key
      ? await check(source, givenKeys(options.key, new Date()), config, options, context)
      : await withRegistry(config, (registry) => check(source, registry, config, options, context));
    if (report.faults.length > 0) context.setExitCode(1);
    const isHolding = report.faults.length === 0;
    context.print(options.json ? JSON.stringify({ isHolding, ...report }, null, 2) : renderVerdict(report));
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

async function check(
  source: TreeSource,
  keys: KeySource,
  config: Config,
  { node: named, quiet, json }: VerifyOptions,
  context: CommandContext,
): Promise<VerifyReport> {
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
  const report = createReport(identity);
  const progress = startProgress(report, context);
  try {
    const now = new Date();
    for await (const finding of verifyTree({ source, reader, node, now, signal }, progress.expect)) {
      addFinding(report, finding);
      if (!json && !(quiet && finding.kind === 'holds')) context.print(renderFinding(finding));
    }
    return report;
  } finally {
    progress.stop();
  }
}

const progressMs = 5_000;

function startProgress({ holding }: VerifyReport, context: CommandContext) {
  let expected = 0;
  const tell = () => context.note(`${holding.entry ?? 0} of ${expected} catalogs …`);
  const timer = setInterval(tell, progressMs);
  return {
    expect: (catalogs: number) => {
      expected += catalogs;
    },
    stop: () => clearInterval(timer),
  };
}

import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { askRegistry } from '../discovery/crawl/reader.ts';
import { isReadingFault } from '../discovery/crawl/reasons.ts';
import { findClaimedNode, type TreeSource } from '../discovery/inspect/verify-node.ts';
import { createGuardedClient, type GuardedClient } from '../http/guarded-client.ts';
import { identityOf } from '../protocol/identity.ts';
import { parseSubscriber } from './arguments.ts';
import { createChainReader } from './chain-reader.ts';
import { type CommandContext, CommandError } from './command.ts';
import { collectTexts } from './discover/intent.ts';
import { withRegistry } from './send/exchange.ts';
import { givenKeys, type KeySource } from './verify/keys.ts';
import {
  addFinding,
  createReport,
  renderFinding,
  renderVerdict,
  type VerifyReport,
} from './verify/report.ts';
import { directorySource, httpSource } from './verify/source.ts';
import { verifyTree } from './verify/tree.ts';

interface VerifyOptions {
  key?: string[];
  node?: string;
  quiet?: boolean;
  json?: boolean;
}

export function registerVerifyCommand(program: Command, context: CommandContext): void {
  program
    .command('verify')
    .argument('[path-or-url]', 'directory of the published files, address of a node, or address of an index')
    .option(
      '--key <key>',
      "recordId=publicKey, or a file with the registry's answer; may be repeated",
      collectTexts,
    )
    .option(
      '--node <subscriber>',
      'whose they must be; otherwise whoever they say they are of',
      parseSubscriber,
    )
    .option('--quiet', 'only what is wrong')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action((place: string | undefined, options: VerifyOptions) => verify(place, options, context));
}

const help = `
Without an argument, the files that the publisher of this machine has published. Keys come from the registry
(REGISTRY_URL); with --key nothing is asked, so that a directory can be verified without a network.
Exit code: 0 when everything holds, 1 otherwise; then the first broken link is named, and what to do.

Examples:
  $ signpost verify
  $ signpost verify https://provider.example.org
  $ signpost verify https://files.example.org/index/catalogs.index.json --node provider.example.org
  $ signpost verify ./public --key key-1=awGPjRK6i/Vg/lWr+0xObclVxlwZXvTjWYtlu6NeOHk=`;

async function verify(
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

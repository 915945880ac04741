import { randomUUID } from 'node:crypto';
import { type Config, readConfig } from '../../config.ts';
import { catalogChecks } from '../../conform/catalog-checks.ts';
import { type CatalogSceneOptions, createCatalogScene, withdrawAll } from '../../conform/catalog-scene.ts';
import { type Check, CheckFailed, type Role, runChecks } from '../../conform/check.ts';
import { discoveryChecks } from '../../conform/discovery-checks.ts';
import { createDiscoveryScene } from '../../conform/discovery-scene.ts';
import { openInbox } from '../../conform/inbox.ts';
import { checksOfClauses, judgeClauses } from '../../conform/nfh-014.ts';
import { createSender } from '../../conform/sender.ts';
import { treeChecks } from '../../conform/tree-checks.ts';
import { createTreeScene } from '../../conform/tree-scene.ts';
import { readAsCrawler } from '../../discovery/inspect/read-as-crawler.ts';
import { describeNode } from '../../discovery/inspect/verify-node.ts';
import { createGuardedClient, FetchFailure, type GuardedClient } from '../../http/guarded-client.ts';
import type { RegistryClient } from '../../registry/client.ts';
import { createChainReader, explainRegistry } from '../chain-reader.ts';
import { type CommandContext, CommandError, printResult, reasonOf } from '../command.ts';
import { interruptedExitCode, listenForInterrupt } from '../interrupt.ts';
import { readSchemaSources, type SchemaSource } from '../schema/sources.ts';
import { chooseAddress } from '../send/address.ts';
import type { AskOptions } from '../send/ask.ts';
import { explainListening } from '../send/callback.ts';
import { withRegistry } from '../send/exchange.ts';
import { resolveSigner } from '../send/signer.ts';
import { httpSource } from '../verify/source.ts';
import { prepareCrawl } from './crawl.ts';
import { findRole } from './find-role.ts';
import {
  type ConformReport,
  countVerdicts,
  renderCheck,
  renderHead,
  renderVerdict,
  toJson,
} from './report.ts';

export interface ConformOptions extends AskOptions {
  role?: Role;
  other?: string;
  otherKeyId?: string;
  otherKey?: string;
  network?: string;
  bodyLimit: number;
  text?: string;
  node?: string;
  profile: 'spec' | 'nfh014';
  clauses?: 'nfh-014';
  only?: string[];
  crawlWait: number;
}

export async function conform(url: string, options: ConformOptions, context: CommandContext): Promise<void> {
  const config = context.config();
  await withRegistry(config, async (registry, client) => {
    const role = options.role ?? (await findRole(url, client));
    const { clauses } = options;
    if (clauses && role === 'catalog')
      throw new CommandError(
        'NFH-014 is about discovery services and published trees: it has no clauses for a catalog service.',
      );
    const report: ConformReport = { role, url, clauses, startedAt: new Date().toISOString(), checks: [] };
    const interrupt = listenForInterrupt(() => context.note(`${endings[role]} Ctrl-C again ends at once.`));
    const { signal } = interrupt;
    try {
      await checkers[role]({ url, options, config, registry, client, context, signal }, report);
    } catch (error) {
      // Only Ctrl-C aborts requests.
      if (!signal.aborted) throw error;
    } finally {
      interrupt.close();
    }
    if (clauses) {
      report.checks = judgeClauses(role, report.checks);
      if (!context.json) for (const clause of report.checks) context.print(renderCheck(clause));
    }
    printResult(context, toJson(report), renderVerdict(report));
    const { failed, passed } = countVerdicts(report.checks);
    if (signal.aborted) context.setExitCode(interruptedExitCode);
    else if (failed > 0 || passed === 0) context.setExitCode(1);
  });
}

/** Messages after Ctrl-C: published catalogs are withdrawn. A tree was only read. */
const endings: Record<Role, string> = {
  catalog: 'Ending after this check, then withdrawing the published catalogs.',
  discovery: 'Ending after this check, then retiring the hosted catalogs.',
  tree: 'Ending.',
};

interface Parts {
  url: string;
  options: ConformOptions;
  config: Config;
  registry: RegistryClient;
  client: GuardedClient;
  context: CommandContext;
  signal: AbortSignal;
}

const checkers = { catalog: checkCatalogService, discovery: checkDiscoveryService, tree: checkTree };

async function checkCatalogService(parts: Parts, report: ConformReport): Promise<void> {
  const { options, client, context } = parts;
  await withPeer(parts, async (peer) => {
    const { bodyLimit } = options;
    const scene = createCatalogScene({ ...peer, bodyLimit, download: (url) => download(client, url) });
    report.as = peer.self.id;
    try {
      await run(catalogChecks, scene, parts, report);
    } finally {
      await withdrawAll(scene).catch((error) =>
        context.note(`The published catalogs could not be withdrawn: ${reasonOf(error)}`),
      );
    }
  });
}

async function checkDiscoveryService(parts: Parts, report: ConformReport): Promise<void> {
  const { url, options, client, context, signal } = parts;
  await withPeer(parts, async (peer) => {
    const scene = createDiscoveryScene({ ...peer, text: options.text });
    report.as = peer.self.id;
    const crawl = await prepareCrawl(scene, {
      ...{ target: url, client, registeredUrl: peer.registeredUrl, signal },
      ...{ profile: options.profile, crawlWaitSeconds: options.crawlWait },
    });
    try {
      await run(discoveryChecks, { ...scene, crawl }, parts, report);
    } finally {
      const isRetired = typeof crawl === 'string' || (await crawl.retireAll().catch(() => false));
      if (!isRetired) context.note(`The catalogs hosted for ${url} to crawl are still found there.`);
    }
  });
}

async function checkTree(parts: Parts, report: ConformReport): Promise<void> {
  const { url, options, config, registry, signal } = parts;
  const isPlainHttp = new URL(url).protocol === 'http:';
  // Reads files elsewhere with the crawler's rules. Only trees in development may name private addresses.
  const client = createGuardedClient({
    allowPrivateAddresses: config.ALLOW_PRIVATE_ADDRESSES && isPlainHttp,
    nameServers: config.DNS_SERVERS,
  });
  try {
    const { REGISTRY_NAME } = config;
    // A tree is judged by the specification, not by the settings. Unsigned indexes are read so that the rest is checked; the tree scene reports them.
    const spec = { ...readConfig({}), REGISTRY_NAME, ALLOW_UNSIGNED_INDEX: true };
    const source = httpSource(url, spec, client);
    // Of two schemas with one address, the later one counts. Local schemas add to the bundled ones and replace none.
    const isBundled = ({ name }: SchemaSource) => Number(name === 'bundled');
    const schemas = (await readSchemaSources(config)).sort((a, b) => isBundled(a) - isBundled(b));
    const { fetcher } = source;
    const chain = await createChainReader(spec, { fetcher, registry }, schemas);
    const reader = readAsCrawler(chain, signal);
    const node = await describeNode({ source, reader }, options.node, new URL(url).hostname);
    const check = { source, reader, node, now: new Date() };
    const files = { fetcher, maxBytes: chain.limits.maxIndexBytes, signal };
    await run(treeChecks, createTreeScene(check, files, isPlainHttp), parts, report);
  } catch (error) {
    explainRegistry(error, config, ' for keys. Start it, or set REGISTRY_URL.');
  } finally {
    await client.close();
  }
}

/** Runs the requested checks and prints a line for each, but no lines if clauses are reported, because clauses need all checks. */
async function run<Scene>(
  checks: readonly Check<Scene>[],
  scene: Scene,
  { options, context, signal }: Parts,
  report: ConformReport,
): Promise<void> {
  const { only, clauses } = options;
  const unknown = only?.find((name) => !checks.some((check) => check.name === name));
  if (unknown !== undefined)
    throw new CommandError(
      `This role has no check ${unknown}. Its checks: ${checks.map(({ name }) => name).join(', ')}.`,
    );
  const named = clauses ? checksOfClauses(report.role) : only;
  const wanted = named ? checks.filter(({ name }) => named.includes(name)) : checks;
  if (!context.json) context.print(renderHead(report));
  for await (const result of runChecks(wanted, scene, signal)) {
    report.checks.push(result);
    if (!context.json && !clauses) context.print(renderCheck(result));
  }
}

async function withPeer<T>(
  { url, options, config, registry, client }: Parts,
  work: (peer: Peer) => Promise<T>,
): Promise<T> {
  const key = resolveSigner({ ...options, as: options.as ?? config.identities.consumer.id }, config);
  const { other: as, otherKeyId: keyId, otherKey } = options;
  const otherKeys = as === undefined ? undefined : resolveSigner({ as, keyId, key: otherKey }, config);
  const own = await chooseAddress(key, options, registry, config.REGISTRY_NAME);
  const others = otherKeys && (await chooseAddress(otherKeys, {}, registry, config.REGISTRY_NAME));
  const address = own.listen();
  const inbox = await openInbox(address).catch((error) => explainListening(error, address));
  const sender = { client, target: url, uri: inbox.url };
  try {
    return await work({
      ...{ run: randomUUID().slice(0, 8), registry, registryName: config.REGISTRY_NAME, inbox },
      networkId: options.network ?? config.DEFAULT_NETWORK_ID,
      ...{ self: createSender({ ...sender, key }), waitSeconds: options.wait },
      // No callback to it is expected, but a service may refuse any address except the registered one.
      ...(otherKeys && {
        other: createSender({ ...sender, key: otherKeys, uri: others?.registered ?? inbox.url }),
      }),
      registeredUrl: own.registered,
    });
  } finally {
    await inbox.close();
  }
}

type Peer = Omit<CatalogSceneOptions, 'bodyLimit' | 'download'>;

const downloadTimeoutMs = 60_000;
const maxDownloadBytes = 256 * 1024 * 1024;

async function download(client: GuardedClient, url: string): Promise<Buffer> {
  try {
    const limits = { timeoutMs: downloadTimeoutMs, maxBytes: maxDownloadBytes, keepEncoding: true };
    const { status, wire } = await client.request(url, { ...limits, operatorConfigured: true });
    if (status === 200) return wire;
    throw new CheckFailed(`${url} answered ${status}`);
  } catch (error) {
    if (error instanceof FetchFailure) throw new CheckFailed(`${url} could not be fetched: ${error.message}`);
    throw error;
  }
}

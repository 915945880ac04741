import { Option } from 'commander';
import type { Role } from '../conform/check.ts';
import {
  collectTexts,
  parseCount,
  parseKeyId,
  parseListen,
  parseNetwork,
  parseSeconds,
  parseSubscriber,
  parseUrl,
  usualWaitSeconds,
} from './arguments.ts';
import type { Register } from './command.ts';
import type { ConformOptions } from './conform/run.ts';

export const register: Register = (program, context) =>
  program
    .command('conform')
    .argument(
      '<url>',
      'base address of a catalog service or discovery service, or address of a published tree',
      parseUrl,
    )
    .addOption(new Option('--role <role>', 'role of the node (default: detected)').choices(roles))
    .option('--as <subscriber>', 'identity that asks and publishes (default: CONSUMER_ID)', parseSubscriber)
    .option('--key-id <id>', 'name of the key in the registry', parseKeyId)
    .option('--key <file|seed>', 'the private key (default: the one in DATA_DIR/keys)')
    .option('--other <subscriber>', 'second identity, to check ownership', parseSubscriber)
    .option('--other-key-id <id>', 'name of its key in the registry', parseKeyId)
    .option('--other-key <file|seed>', 'its private key')
    .option('--network <id>', 'network to publish in (default: DEFAULT_NETWORK_ID)', parseNetwork)
    .option('--body-limit <bytes>', 'largest publish that the service accepts', parseCount, usualBodyLimit)
    .option('--text <words>', 'search words that have results (default: everything)')
    .option(
      '--node <subscriber>',
      'expected owner of the tree (default: the one that it names)',
      parseSubscriber,
    )
    .addOption(
      new Option('--profile <profile>', 'form of the files that are hosted for a discovery service to crawl')
        .choices(['spec', 'nfh014'])
        .default('spec'),
    )
    .addOption(
      new Option('--clauses <document>', 'report by the clauses of this document, not of the specification')
        .choices(['nfh-014'])
        .implies({ profile: 'nfh014' })
        .conflicts('only'),
    )
    .option('--only <name>', 'run only this check; repeatable', collectTexts)
    .option('--wait <seconds>', 'how long to wait for callbacks and pushes', parseSeconds, usualWaitSeconds)
    .option(
      '--crawl-wait <seconds>',
      'how long a discovery service may take to read hosted files again',
      parseSeconds,
      usualCrawlWaitSeconds,
    )
    .option('--listen <address>', 'where to wait for them: host:port', parseListen)
    .option('--uri <url>', 'public base address of --listen', parseUrl)
    .option('--json', 'print the report as JSON')
    .addHelpText('after', help)
    .action(async (url: string, options: ConformOptions) =>
      (await import('./conform/run.ts')).conform(url, options, context),
    );

const roles: Role[] = ['catalog', 'discovery', 'tree'];

/** BODY_SIZE_LIMIT of the specification. */
const usualBodyLimit = 5 * 1024 * 1024;

/** Crawlers that failed at an address return after minutes. */
const usualCrawlWaitSeconds = 360;

const help = `
Sends right and wrong requests, and checks every answer, callback, push and file against the specification, clause by clause. Its catalogs have ids
that begin with "conform-". At the end it makes them inactive and ends its subscription. Callbacks and pushes go to the registered address of the
identity. Without a registered address, pushes are not checked; without --other, ownership is not checked. To check crawling, use an identity with a
registered address in a network that the service crawls: the command hosts right and wrong files there. CONFORMANCE.md lists all checks.
"--clauses nfh-014" reports by the numbered clauses of the public draft NFH-014, of a discovery service or a published tree.
Exit codes: 0 no check failed; 1 a check failed, or nothing could be checked.

Examples:
  $ signpost conform http://127.0.0.1:4002 --as facilitator.signpost.test --other provider.signpost.test
  $ signpost conform https://discovery.example.org --role discovery --as bap.example.com --key bap.seed --text charger
  $ signpost conform https://provider.example.org --role tree
  $ signpost conform https://provider.example.org --role tree --clauses nfh-014
  $ signpost conform https://catalog.example.org --json | jq '.checks[] | select(.verdict == "failed")'`;

import { Option } from 'commander';
import { parseListen, parseNode, parseSeconds, usualWaitSeconds } from './arguments.ts';
import type { Register } from './command.ts';
import type { McpOptions } from './mcp/run.ts';

export const register: Register = (program, context) =>
  program
    .command('mcp')
    .addOption(
      new Option(
        '--http [address]',
        'serve Streamable HTTP at http://ADDRESS/mcp instead of standard input and output',
      )
        .argParser(parseListen)
        .preset('127.0.0.1:4008'),
    )
    .option(
      '--to <service>',
      'base address or subscriberId of the discovery service (default: the one on this machine)',
      parseNode,
    )
    .option(
      '--wait <seconds>',
      'how long to wait for an answer of the service, and for the files of providers',
      parseSeconds,
      usualWaitSeconds,
    )
    .option(
      '--listen <address>',
      'where to wait for answers: host:port (default: that of CONSUMER_URL)',
      parseListen,
    )
    .option('--json', 'with --http, print where it listens as JSON')
    .addHelpText('after', help)
    .action(async (options: McpOptions) => (await import('./mcp/run.ts')).serveMcp(options, context));

const help = `
Gives an assistant four tools: search_network, get_resource, describe_network, why_not_found. It signs as CONSUMER_ID, and waits for
answers at CONSUMER_URL, so the registry has to know its key and this address. Behind NAT no answer arrives: run it with --http on a server.
With --http, callers need the token in DATA_DIR/mcp-token, as "Authorization: Bearer …". Programs of this machine need none if both ADDRESS and
CONSUMER_URL are loopback addresses.

Exit codes: 0 ended by its client or by Ctrl-C; 1 could not start.

Examples:
  $ signpost mcp                                   for an assistant that starts it, and talks to it over standard input and output
  $ signpost mcp --to https://discovery.example.org
  $ signpost mcp --http 0.0.0.0:4008               on a server, for assistants elsewhere`;

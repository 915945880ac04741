import { Option } from 'commander';
import { endpoints, receivedActions } from '../protocol/endpoints.ts';
import { parseCount, parseListen, parseSubscriber } from './arguments.ts';
import type { Register } from './command.ts';
import type { ListenOptions } from './listen/run.ts';

export const register: Register = (program, context) =>
  program
    .command('listen')
    .addOption(
      new Option('--listen <address>', 'host:port')
        .argParser(parseListen)
        .default({ host: '127.0.0.1', port: 5001 }, '127.0.0.1:5001'),
    )
    .option('--as <subscriber>', 'identity that acknowledges (default: CONSUMER_ID)', parseSubscriber)
    .option('--count <number>', 'end after this many messages', parseCount)
    .option('--json', 'print each message as one line of JSON')
    .addHelpText('after', help)
    .action(async (options: ListenOptions) => (await import('./listen/run.ts')).listen(options, context));

const help = `
Takes ${receivedActions.map((action) => endpoints[action].path).join(', ')}. Messages that verify are printed and acknowledged. Others are refused, with the reason on
standard error. Only the sender of a request can verify a callback with four signed lines: it is refused here, and sent again with three.

Exit codes: 0 ended by Ctrl-C or --count; 1 failure.

Examples:
  $ signpost listen
  $ signpost send search.json --to http://127.0.0.1:4003 --as consumer.signpost.test --uri http://127.0.0.1:5001
  $ signpost listen --listen :5002 --as discovery.example.org --json | jq .message`;

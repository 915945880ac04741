import { type Command, Option } from 'commander';
import { endpoints, receivedActions } from '../protocol/endpoints.ts';
import { parseCount, parseListen, parseSubscriber } from './arguments.ts';
import type { CommandContext } from './command.ts';
import type { ListenOptions } from './listen/run.ts';

export function registerListenCommand(program: Command, context: CommandContext): void {
  program
    .command('listen')
    .addOption(
      new Option('--listen <address>', 'host:port')
        .argParser(parseListen)
        .default({ host: '127.0.0.1', port: 5001 }, '127.0.0.1:5001'),
    )
    .option('--as <subscriber>', 'who acknowledges what comes (default: CONSUMER_ID)', parseSubscriber)
    .option('--count <number>', 'end after so many messages', parseCount)
    .option('--json', 'print each message as one line of JSON')
    .addHelpText('after', help)
    .action(async (options: ListenOptions) => (await import('./listen/run.ts')).listen(options, context));
}

const help = `
Takes ${receivedActions.map((action) => endpoints[action].path).join(', ')}. What verifies is printed and acknowledged, under a signature of ours; what does not is refused, and the
reason told on standard error. A callback that signs the signature of its request can be verified by the sender of that request alone: it is refused
here, and comes again without that.

Exit code: 0 when it was ended by Ctrl-C or --count.

Examples:
  $ signpost listen
  $ signpost send search.json --to http://127.0.0.1:4003 --as consumer.signpost.test --uri http://127.0.0.1:5001
  $ signpost listen --listen :5002 --as discovery.example.org --json | jq .message`;

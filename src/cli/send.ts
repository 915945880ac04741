import {
  parseKeyId,
  parseListen,
  parseMethod,
  parseSeconds,
  parseSubscriber,
  parseUrl,
  usualWaitSeconds,
} from './arguments.ts';
import type { Register } from './command.ts';
import type { SendOptions } from './send/run.ts';

export const register: Register = (program, context) =>
  program
    .command('send')
    .argument('[file]', 'request with context and message; - reads standard input; none for GET and DELETE')
    .requiredOption('--to <url>', 'base address of a service, or the whole address', parseUrl)
    .requiredOption(
      '--as <subscriber>',
      'identity that signs: a subscriber id, or a role of this machine such as catalog',
      parseSubscriber,
    )
    .option('--key-id <id>', 'name of the key in the registry (default: key-1)', parseKeyId)
    .option('--key <file|seed>', 'the private key (default: the one in DATA_DIR/keys)')
    .option('--action <name>', 'such as catalog/publish (default: from the address, else from the file)')
    .option('--method <method>', 'POST, GET or DELETE', parseMethod, 'POST')
    .option('--verbatim', 'send the file unchanged, without filling in ids, addresses and time')
    .option('--uri <url>', 'base address for callbacks (bapUri or bppUri)', parseUrl)
    .option('--wait [seconds]', `wait for the callback (${usualWaitSeconds} s)`, parseSeconds)
    .option(
      '--listen <address>',
      'where to wait: host:port (default: the registered address, else any port)',
      parseListen,
    )
    .option(
      '--answering <signature>',
      'sign a callback by hand: the signature text of the request it answers',
    )
    .option('--json', 'print request, answer and callback as one JSON object')
    .addHelpText('after', examples)
    .action(async (file: string | undefined, options: SendOptions) =>
      (await import('./send/run.ts')).send(file, options, context),
    );

const examples = `
Exit codes: 0 accepted; 1 refused, not reached, no callback, or a PARTIAL or REJECTED catalog.

Examples:
  $ signpost send publish.json --to http://127.0.0.1:4002 --as provider.signpost.test --wait
  $ signpost send --method GET --to 'http://127.0.0.1:4002/catalog/subscription?status=ACTIVE' --as discovery.signpost.test
  $ signpost send body.json --verbatim --to https://catalog.example/catalog/publish --as bpp.example.com --key bpp.seed
  $ jq '.message.limit = 5' search.json | signpost send - --to http://127.0.0.1:4002 --as discovery.signpost.test`;

import type { Command } from 'commander';
import {
  parseKeyId,
  parseListen,
  parseMethod,
  parseSeconds,
  parseSubscriber,
  parseUrl,
} from './arguments.ts';
import type { CommandContext } from './command.ts';
import { readInput } from './read-input.ts';
import { chooseAddress } from './send/address.ts';
import type { ListenAddress } from './send/callback.ts';
import {
  exchange,
  isCallbackDue,
  isFromAsked,
  usualWaitSeconds,
  waitForCallback,
  withRegistry,
} from './send/exchange.ts';
import { openListener } from './send/relay.ts';
import { findShortcomings, isAccepted, renderAnswer, renderCallback, renderJson } from './send/report.ts';
import { buildRequest, type Method, prepareDraft } from './send/request.ts';
import { resolveSigner, type SignerOptions } from './send/signer.ts';

export interface SendOptions extends SignerOptions {
  to: string;
  action?: string;
  method: Method;
  verbatim?: boolean;
  uri?: string;
  /** Seconds, or true for the usual time. */
  wait?: number | true;
  listen?: ListenAddress;
  answering?: string;
  json?: boolean;
}

export function registerSendCommand(program: Command, context: CommandContext): void {
  program
    .command('send')
    .argument('[file]', 'request with context and message; - reads standard input; none for GET and DELETE')
    .requiredOption('--to <url>', 'base address of a service, or the whole address', parseUrl)
    .requiredOption(
      '--as <subscriber>',
      'who signs: a subscriber id, or a role of this machine such as catalog',
      parseSubscriber,
    )
    .option('--key-id <id>', 'name of the key in the registry (default: key-1)', parseKeyId)
    .option('--key <file|seed>', 'the private key (default: the one in DATA_DIR/keys)')
    .option('--action <name>', 'such as catalog/publish (default: from the address, else from the file)')
    .option('--method <method>', 'POST, GET or DELETE', parseMethod, 'POST')
    .option(
      '--verbatim',
      'send the bytes of the file as they are; otherwise ids, addresses and time are filled in',
    )
    .option('--uri <url>', 'base address to give as our bapUri or bppUri', parseUrl)
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
    .action((file: string | undefined, options: SendOptions) => send(file, options, context));
}

const examples = `
Exit code: 0 when accepted, 1 when refused, not reached, when the callback did not come, or says that a catalog is PARTIAL or REJECTED.

Examples:
  $ signpost send publish.json --to http://127.0.0.1:4002 --as provider.signpost.test --wait
  $ signpost send --method GET --to 'http://127.0.0.1:4002/catalog/subscription?status=ACTIVE' --as discovery.signpost.test
  $ signpost send body.json --verbatim --to https://catalog.example/catalog/publish --as bpp.example.com --key bpp.seed
  $ jq '.message.limit = 5' search.json | signpost send - --to http://127.0.0.1:4002 --as discovery.signpost.test`;

async function send(file: string | undefined, options: SendOptions, context: CommandContext): Promise<void> {
  const config = context.config();
  const self = resolveSigner(options, config);
  const draft = prepareDraft({
    ...options,
    bytes: file === undefined ? Buffer.alloc(0) : await readInput(file, context),
  });
  await withRegistry(config, async (registry, client) => {
    const address = await chooseAddress(self, options, registry, config.REGISTRY_NAME);
    const onRefused = context.note;
    const listener =
      options.wait === undefined
        ? undefined
        : await openListener({ draft, address, given: options, self, registry, client, config, onRefused });
    try {
      const request = buildRequest(draft, { self, uri: listener?.url ?? address.uri, now: new Date() });
      await listener?.expect(request);
      const answer = await exchange(request, registry, client);
      if (!options.json) context.print(renderAnswer(request, answer));
      const seconds = typeof options.wait === 'number' ? options.wait : usualWaitSeconds;
      const callback = await waitForCallback(listener, answer, seconds, context);
      if (!options.json && callback) context.print(renderCallback(callback));
      if (options.json) context.print(renderJson(request, answer, callback));
      const isAnswered = callback
        ? isFromAsked(callback, answer, config, context)
        : !isCallbackDue(listener, answer);
      const shortcomings = callback ? findShortcomings(callback) : [];
      for (const shortcoming of shortcomings) context.note(shortcoming);
      if (!isAccepted(answer) || !isAnswered || shortcomings.length > 0) context.setExitCode(1);
    } finally {
      await listener?.close();
    }
  });
}

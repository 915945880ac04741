import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { createGuardedClient, FetchFailure, type GuardedClient } from '../http/guarded-client.ts';
import { silentLogger } from '../logger.ts';
import { createMetrics } from '../metrics.ts';
import { identityOf } from '../protocol/identity.ts';
import { createRegistryClient, type RegistryClient } from '../registry/client.ts';
import { parseKeyId, parseListen, parseMethod, parseSeconds, parseUrl } from './arguments.ts';
import { type CommandContext, CommandError } from './command.ts';
import { readInput } from './read-input.ts';
import { chooseAddress } from './send-address.ts';
import {
  type Callback,
  type CallbackListener,
  type ListenAddress,
  listenForCallback,
} from './send-callback.ts';
import {
  isAccepted,
  type ReceivedAnswer,
  readAnswer,
  renderAnswer,
  renderCallback,
  renderJson,
} from './send-report.ts';
import { buildRequest, type Method, prepareDraft, type SendableRequest } from './send-request.ts';
import { resolveSigner, type SignerOptions } from './send-signer.ts';

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
    .description('sign a JSON file as an identity, send it, and show the answer')
    .argument('[file]', 'request with context and message; - reads standard input; none for GET and DELETE')
    .requiredOption('--to <url>', 'base address of a service, or the whole address', parseUrl)
    .requiredOption(
      '--as <subscriber>',
      'who signs: a subscriber id, or a role of this machine such as catalog',
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

const usualWaitSeconds = 30;
const answerTimeoutMs = 30_000;
const maxAnswerBytes = 64 * 1024 * 1024;

const examples = `
Exit code: 0 when accepted, 1 when refused, not reached, or when the callback did not come.

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
    const listener =
      options.wait === undefined
        ? undefined
        : await listenForCallback({
            draft,
            address: address.listen(),
            self,
            registry,
            config,
            onRefused: context.note,
          });
    try {
      const request = buildRequest(draft, { self, uri: listener?.url ?? address.uri, now: new Date() });
      listener?.expect(request);
      const answer = await exchange(request, registry, client);
      if (!options.json) context.print(renderAnswer(request, answer));
      const callback = await waitForCallback(listener, answer, options, context);
      if (!options.json && callback) context.print(renderCallback(callback));
      if (options.json) context.print(renderJson(request, answer, callback));
      const isAnswered = callback
        ? isFromAsked(callback, answer, config, context)
        : !isCallbackDue(listener, answer);
      if (!isAccepted(answer) || !isAnswered) context.setExitCode(1);
    } finally {
      await listener?.close();
    }
  });
}

/** The person at the terminal wrote the addresses: none is guarded. */
async function withRegistry(
  config: Config,
  work: (registry: RegistryClient, client: GuardedClient) => Promise<void>,
): Promise<void> {
  const client = createGuardedClient({ allowPrivateAddresses: true });
  const registry = createRegistryClient({
    url: config.registryUrl,
    registryName: config.REGISTRY_NAME,
    client,
    logger: silentLogger(),
    metrics: createMetrics({ process: false }),
  });
  try {
    await work(registry, client);
  } finally {
    await client.close();
  }
}

async function exchange(
  request: SendableRequest,
  registry: RegistryClient,
  client: GuardedClient,
): Promise<ReceivedAnswer> {
  const { method, url, body, authorization, signature } = request;
  try {
    const response = await client.request(url, {
      method,
      headers: { authorization, ...(body.length > 0 && { 'content-type': 'application/json' }) },
      body: body.length > 0 ? body : undefined,
      timeoutMs: answerTimeoutMs,
      maxBytes: maxAnswerBytes,
      maxRedirects: 0,
      operatorConfigured: true,
    });
    return await readAnswer(response, signature, registry);
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error;
    const advice = error.kind === 'unreachable' ? ' Is signpost running? Start it with: npm start' : '';
    throw new CommandError(`${error.message}${advice}`, error);
  }
}

/** Nothing follows a refusal, nor a 202: that was received, and found to need no processing. */
function isCallbackDue(listener: CallbackListener | undefined, answer: ReceivedAnswer): boolean {
  return listener !== undefined && isAccepted(answer) && answer.status !== 202;
}

async function waitForCallback(
  listener: CallbackListener | undefined,
  answer: ReceivedAnswer,
  { wait }: SendOptions,
  context: CommandContext,
): Promise<Callback | undefined> {
  if (!listener || !isCallbackDue(listener, answer)) return undefined;
  const seconds = typeof wait === 'number' ? wait : usualWaitSeconds;
  context.note(`Waiting at ${listener.url} for ${listener.action}, up to ${seconds} s …`);
  const callback = await listener.wait(seconds);
  if (!callback) context.note(`No ${listener.action} came within ${seconds} s.`);
  return callback;
}

/** Where the signature of the answer told whom we asked, nobody else can call back. */
function isFromAsked(
  { signer }: Callback,
  { signature }: ReceivedAnswer,
  { REGISTRY_NAME }: Config,
  context: CommandContext,
): boolean {
  if (!signature.holds || identityOf(signature.signer, REGISTRY_NAME) === signer) return true;
  context.note(`The callback is signed by ${signer}, but ${signature.signer} was asked.`);
  return false;
}

import type { Callback } from '../../delivery/receive-callback.ts';
import { type CommandContext, CommandError } from '../command.ts';
import { chooseAddress } from './address.ts';
import type { ListenAddress } from './callback.ts';
import { exchange, waitForCallback, withRegistry } from './exchange.ts';
import { openListener } from './relay.ts';
import { isAccepted, type ReceivedAnswer, readRefusal, requireAck } from './report.ts';
import { buildRequest, prepareDraft } from './request.ts';
import { resolveSigner, type SignerOptions } from './signer.ts';

/** Who signs a request, and where its callback is waited for, as options name them. */
export interface AskOptions extends Partial<SignerOptions> {
  wait: number;
  listen?: ListenAddress;
  uri?: string;
}

interface Question {
  to: string;
  action: string;
  document: object;
  /** Who is asked, as errors call it. */
  service: string;
  /** Who signs unless the options name somebody. */
  as: string;
  advise?(code: string): string;
}

export class Refused extends CommandError {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** Sends a signed request, and waits for its callback; that is undefined where none came. */
export async function ask(
  { to, action, document, service, as, advise = () => '' }: Question,
  options: AskOptions,
  context: CommandContext,
): Promise<{ answer: ReceivedAnswer; callback?: Callback }> {
  const config = context.config();
  const self = resolveSigner({ ...options, as: options.as ?? as }, config);
  const draft = prepareDraft({ to, method: 'POST', action, bytes: Buffer.from(JSON.stringify(document)) });
  return withRegistry(config, async (registry, client) => {
    const address = await chooseAddress(self, options, registry, config.REGISTRY_NAME);
    const common = { draft, address, given: options, self, registry, client, config };
    const listener = await openListener({ ...common, onRefused: context.note });
    try {
      const request = buildRequest(draft, { self, uri: listener.url, now: new Date() });
      await listener.expect(request);
      const answer = await exchange(request, registry, client);
      if (!isAccepted(answer)) {
        const { code, reason } = readRefusal(answer.body);
        const refusal = `The ${service} refused this, ${answer.status} ${code}: ${reason}`;
        throw new Refused(`${refusal}${advise(code)}`, answer.status);
      }
      requireAck(request, answer, service);
      return { answer, callback: await waitForCallback(listener, request, answer, options.wait, context) };
    } finally {
      await listener.close();
    }
  });
}

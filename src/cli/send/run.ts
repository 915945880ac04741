import { describeClockDifference, findServerClock } from '../../delivery/bodiless-signature.ts';
import { usualWaitSeconds } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { readInput } from '../read-input.ts';
import { chooseAddress } from './address.ts';
import type { ListenAddress } from './callback.ts';
import { exchange, isCallbackDue, waitForCallback, withRegistry } from './exchange.ts';
import { openListener } from './relay.ts';
import { findShortcomings, isAccepted, renderAnswer, renderCallback, renderJson } from './report.ts';
import { buildRequest, type Method, prepareDraft } from './request.ts';
import { resolveSigner, type SignerOptions } from './signer.ts';

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

export async function send(
  file: string | undefined,
  options: SendOptions,
  context: CommandContext,
): Promise<void> {
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
      const build = (now: Date) => buildRequest(draft, { self, uri: listener?.url ?? address.uri, now });
      let request = build(new Date());
      await listener?.expect(request);
      let answer = await exchange(request, registry, client);
      const clock = findServerClock(draft.method, answer, new Date());
      if (clock) {
        const difference = describeClockDifference(clock, new Date());
        context.note(`${draft.url} answered 401, and ${difference}: signed once more by its clock.`);
        request = build(clock);
        answer = await exchange(request, registry, client);
      }
      if (!options.json) context.print(renderAnswer(request, answer));
      const seconds = typeof options.wait === 'number' ? options.wait : usualWaitSeconds;
      const callback = await waitForCallback(listener, request, answer, seconds, context);
      if (!options.json && callback) context.print(renderCallback(callback));
      if (options.json) context.print(renderJson(request, answer, callback));
      const isAnswered = callback !== undefined || !isCallbackDue(listener, answer);
      const shortcomings = callback ? findShortcomings(callback) : [];
      for (const shortcoming of shortcomings) context.note(shortcoming);
      if (!isAccepted(answer) || !isAnswered || shortcomings.length > 0) context.setExitCode(1);
    } finally {
      await listener?.close();
    }
  });
}

import { usualWaitSeconds } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { readInput } from '../read-input.ts';
import { sendAndWait } from './ask.ts';
import type { ListenAddress } from './callback.ts';
import { findShortcomings, isAccepted, renderAnswer, renderCallback, renderJson } from './report.ts';
import { type DraftOptions, prepareDraft } from './request.ts';
import { resolveSigner, type SignerOptions } from './signer.ts';

export interface SendOptions extends SignerOptions, Omit<DraftOptions, 'bytes'> {
  uri?: string;
  /** Seconds, or true for the default. */
  wait?: number | true;
  listen?: ListenAddress;
}

export async function send(file: string | undefined, options: SendOptions, context: CommandContext) {
  const self = resolveSigner(options, context.config());
  const draft = prepareDraft({
    ...options,
    bytes: file === undefined ? Buffer.alloc(0) : await readInput(file, context),
  });
  const { listen, uri } = options;
  const wait = options.wait === true ? usualWaitSeconds : options.wait;
  const sent = await sendAndWait(draft, self, { wait, listen, uri }, context, (request, answer) => {
    if (!context.json) context.print(renderAnswer(request, answer));
  });
  const { request, answer, callback, isUnanswered } = sent;
  if (context.json) context.print(renderJson(request, answer, callback));
  else if (callback) context.print(renderCallback(callback));
  const shortcomings = callback ? findShortcomings(callback) : [];
  for (const shortcoming of shortcomings) context.note(shortcoming);
  if (!isAccepted(answer) || isUnanswered || shortcomings.length > 0) context.setExitCode(1);
}

import { actions } from '../../../src/protocol/actions.ts';
import type { Catalog } from '../../../src/protocol/catalog.ts';
import type { PublishDirective, PublishResult } from '../../../src/protocol/publish-messages.ts';
import { askAndWait, type CallOptions, type Core } from './core.ts';
import { SignpostError } from './errors.ts';

export interface PublishOptions extends CallOptions {
  /** At most one per catalog. A catalog without one is REGULAR, merged, and visible to the default network. */
  directives?: PublishDirective[];
}

/** Resolves with the results of catalog/on_publish, one per catalog (catalog spec: POST /catalog/publish). */
export async function publish(
  core: Core,
  catalogs: Catalog | readonly Catalog[],
  { directives, ...options }: PublishOptions = {},
): Promise<PublishResult[]> {
  const message = { catalogs: [catalogs].flat(), publishDirectives: directives };
  const question = { action: actions.publish, service: 'catalog', message } as const;
  const { answer, callback } = await askAndWait(core, question, options);
  if (callback) return callback.message.results;
  const details = { status: answer.status, messageId: options.messageId };
  const problem = 'The service acknowledged the publish, but will not process it.';
  throw new SignpostError('NET_CALLBACK_FAILED', problem, details);
}

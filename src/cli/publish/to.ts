import { endpoints } from '../../protocol/endpoints.ts';
import type { OnPublishMessage } from '../../protocol/publish-messages.ts';
import { type AskOptions, ask, type Terminal } from '../send/ask.ts';

export interface PublishToOptions extends AskOptions {
  to: string;
}

/** Publishes to a catalog service, signed, and waits for its on_publish; undefined if that does not arrive. */
export async function publishTo(document: object, { to, ...options }: PublishToOptions, context: Terminal) {
  const { id: as } = context.config().identities.publisher;
  const question = { to, action: endpoints.publish.name, document, service: 'catalog service', as };
  const { callback } = await ask(question, options, context);
  return callback?.message as OnPublishMessage | undefined;
}

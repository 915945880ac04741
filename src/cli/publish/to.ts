import { endpoints } from '../../protocol/endpoints.ts';
import type { JsonObject } from '../../protocol/json.ts';
import type { OnPublishMessage } from '../../protocol/publish-messages.ts';
import { type CommandContext, CommandError } from '../command.ts';
import { chooseAddress } from '../send/address.ts';
import type { ListenAddress } from '../send/callback.ts';
import { exchange, waitForCallback, withRegistry } from '../send/exchange.ts';
import { openListener } from '../send/relay.ts';
import { isAccepted, readRefusal, requireAck } from '../send/report.ts';
import { buildRequest, prepareDraft } from '../send/request.ts';
import { resolveSigner, type SignerOptions } from '../send/signer.ts';

export interface PublishToOptions extends Omit<SignerOptions, 'as'> {
  to: string;
  as?: string;
  wait: number;
  listen?: ListenAddress;
  uri?: string;
}

/** Publishes to a catalog service, signed, and waits for its on_publish; undefined when that did not come. */
export async function publishTo(
  request: JsonObject,
  options: PublishToOptions,
  context: CommandContext,
): Promise<OnPublishMessage | undefined> {
  const config = context.config();
  const self = resolveSigner({ ...options, as: options.as ?? config.identities.publisher.id }, config);
  const draft = prepareDraft({
    to: options.to,
    method: 'POST',
    action: endpoints.publish.name,
    bytes: Buffer.from(JSON.stringify(request)),
  });
  return withRegistry(config, async (registry, client) => {
    const address = await chooseAddress(self, options, registry, config.REGISTRY_NAME);
    const onRefused = context.note;
    const listener = await openListener({
      draft,
      address,
      given: options,
      self,
      registry,
      client,
      config,
      onRefused,
    });
    try {
      const sent = buildRequest(draft, { self, uri: listener.url, now: new Date() });
      await listener.expect(sent);
      const answer = await exchange(sent, registry, client);
      if (!isAccepted(answer)) {
        const { code, reason } = readRefusal(answer.body);
        throw new CommandError(`The catalog service refused this, ${answer.status} ${code}: ${reason}`);
      }
      requireAck(sent, answer, 'catalog service');
      const callback = await waitForCallback(listener, sent, answer, options.wait, context);
      return callback?.message as OnPublishMessage | undefined;
    } finally {
      await listener.close();
    }
  });
}

import { createBareServer } from '../../http/bare-server.ts';
import { signedRoute, type VerifiedRequest } from '../../http/signed-route.ts';
import { ack } from '../../protocol/acknowledgement.ts';
import { actions } from '../../protocol/actions.ts';
import { receivedActions } from '../../protocol/endpoints.ts';
import { paint } from '../colour.ts';
import type { CommandContext } from '../command.ts';
import { untilStopped } from '../interrupt.ts';
import { describeReceiver, explainListening, type ListenAddress } from '../send/callback.ts';
import { withRegistry } from '../send/exchange.ts';
import { resolveSigner } from '../send/signer.ts';

const fourLines =
  '. Only the sender of the request can verify it; it will be sent again with three signed lines.';

export interface ListenOptions {
  as?: string;
  listen: ListenAddress;
  count?: number;
}

export async function listen({ as, listen: address, count }: ListenOptions, context: CommandContext) {
  const config = context.config();
  const self = resolveSigner({ as: as ?? config.identities.consumer.id }, config);
  await withRegistry(config, async (registry) => {
    const ended = new AbortController();
    let seen = 0;
    const server = createBareServer(({ method, url, headers, refusal }) => {
      const isOfRequest = headers.authorization?.includes('request-signature');
      const why = isOfRequest ? fourLines : '';
      if (refusal) context.note(`${paint('bad', 'refused')} ${method} ${url}: ${refusal}${why}`);
      else if (seen === count) ended.abort();
    });
    const service = describeReceiver({ self, registry, config });
    for (const action of receivedActions)
      signedRoute(server, service, actions[action], async (request) => {
        context.print(context.json ? renderJson(request) : render(request));
        seen += 1;
        return { status: 200, body: ack(request.context.messageId) };
      });
    try {
      const { port } = await server.listen(address).catch((error: Error) => explainListening(error, address));
      context.note(`Listening on http://${address.host}:${port} as ${self.subscriberId}. Ctrl-C ends it.`);
      await untilStopped(ended);
    } finally {
      await server.close();
    }
  });
}

type Received = VerifiedRequest<(typeof actions)[(typeof receivedActions)[number]]>;

function render({ context, message, identity, recordId }: Received): string {
  const head = `${paint('good', context.action)} from ${identity}, ${recordId}: the signature is valid.`;
  return `${head}\n${JSON.stringify({ context, message }, null, 2)}\n`;
}

function renderJson({ context, message, identity, recordId, receivedAt }: Received): string {
  return JSON.stringify({ receivedAt, signer: identity, recordId, context, message });
}

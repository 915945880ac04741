import type { FastifyInstance } from 'fastify';
import type { DocsPage } from '../http/docs-page.ts';
import { type Endpoint, endpoints } from '../protocol/endpoints.ts';
import { actionExamples } from '../protocol/example-messages.ts';
import { fillIn } from '../protocol/fill-in.ts';
import { type JsonObject, parseJson } from '../protocol/json.ts';
import { closed, oneOfTexts } from '../protocol/shapes.ts';
import { type Static, Type } from '../protocol/type.ts';
import { actorOf } from './audit.ts';
import { audited } from './audited.ts';
import type { ConsoleContext } from './context.ts';
import { ConsoleError, notFound } from './errors.ts';
import { addRoute } from './route.ts';
import { explainFailure, openSender } from './signer.ts';

// "Try it out" on the API page of the demo network. The console fills in ids and time, signs the request with a key of the demo, sends it to the
// service and shows the request and the answer. Only for the operator, and only in `signpost up`.

const triedRoles = ['catalog', 'discovery'] as const;
const maxBodyBytes = 1024 * 1024;
const maxAnswerBytes = 8 * 1024 * 1024;
const withinMs = 15_000;

export function addTryRoutes(server: FastifyInstance, context: ConsoleContext): void {
  addRoute(server, 'GET /api/openapi/:role', {
    summary: 'The OpenAPI document of another role of this process.',
    answers: { 404: 'No such role runs in this process.' },
    examples: { parameters: { role: 'catalog' } },
    async handle({ params }) {
      const limits = { timeoutMs: withinMs, maxBytes: maxAnswerBytes, operatorConfigured: true };
      const { body } = await context.outside.client
        .request(findDocument(context, params.role), limits)
        .catch((error) => explainFailure(error, 'service'));
      return parseJson(body);
    },
  });
  if (!context.config.demo) return;
  addRoute(server, 'POST /api/try', {
    summary: 'Sign a request with a key of the demo network, and send it.',
    description: 'Only in `signpost up`. Callbacks to a participant without an address go to the inbox.',
    body: TryRequest,
    answer: TryAnswer,
    answers: { 404: 'There is no such signed operation.', 409: 'There is no such key on this machine.' },
    examples: {
      bodies: Object.fromEntries(
        Object.entries(actionExamples.discover.bodies).map(([name, { summary, value: body }]) => [
          name,
          { summary, value: { role: 'discovery', method: 'POST', path: endpoints.discover.path, body } },
        ]),
      ),
    },
    access: 'publish',
    bodyLimit: maxBodyBytes,
    async handle({ body: asked }, request) {
      const endpoint = findEndpoint(asked);
      const as = asked.as ?? chooseSigner(context, endpoint);
      const target = `${asked.method} ${asked.path} as ${as}`;
      return audited(context, actorOf(request), { action: 'try', target }, () =>
        sendAs(context, as, endpoint, asked),
      );
    },
  });
}

/** The API documents at /docs: of the console and of the services in this process, to try in the demo. The catalog service's comes first. */
export function chooseDocs({ config }: Pick<ConsoleContext, 'config'>, wanted = 'catalog'): DocsPage {
  const others = config.roles.filter((role) => role !== 'console' && role !== 'publisher');
  const current = others.find((role) => role === wanted) ?? 'console';
  const isSigned = triedRoles.some((role) => role === current);
  return {
    roles: ['console', ...others],
    current,
    documentUrl: current === 'console' ? 'openapi.json' : `api/openapi/${current}`,
    isSigned,
    ...(config.demo && isSigned && { tryUrl: 'api/try' }),
  };
}

async function sendAs(
  context: ConsoleContext,
  as: string,
  endpoint: Endpoint,
  { role, method, path, body }: TryRequest,
): Promise<TryAnswer> {
  const { uri, send } = await openSender(context, as, 'service');
  const now = context.now();
  const filled =
    method === 'POST' && fillIn((body ?? {}) as JsonObject, { action: endpoint, id: as, uri, now });
  const text = filled ? JSON.stringify(filled) : undefined;
  let authorization = '';
  const url = `${context.config.identities[role].url}${path}`;
  const answer = await send({
    ...{ method, url, maxAnswerBytes, signal: AbortSignal.timeout(withinMs) },
    ...(text !== undefined && { body: Buffer.from(text) }),
    beforeSending: async (header) => {
      authorization = header;
    },
  });
  return {
    sent: {
      ...{ method, path, authorization, ...(filled && { body: filled }) },
      curl: renderCurl(method, url, authorization, text),
    },
    answer: { status: answer.status, signer: answer.signer ?? null, body: parseJson(answer.body) },
  };
}

function renderCurl(method: string, url: string, authorization: string, body?: string): string {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const parts = ['curl', '-X', method, quote(url), '-H', quote(`authorization: ${authorization}`)];
  if (body !== undefined) parts.push('-H', quote('content-type: application/json'), '-d', quote(body));
  return parts.join(' ');
}

/** A provider publishes and the catalog service pushes; the consumer sends everything else. */
function chooseSigner({ config }: ConsoleContext, { name, caller }: Endpoint): string {
  const { catalog, consumer } = config.identities;
  if (name === endpoints.push.name) return catalog.id;
  return (caller === 'bpp' && config.demo?.providerId) || consumer.id;
}

function findEndpoint({ method, path }: TryRequest): Endpoint {
  const [pathname] = path.split('?');
  const endpoint = Object.values<Endpoint>(endpoints).find(
    (one) => one.method === method && one.path === pathname,
  );
  if (!endpoint) throw notFound(`There is no signed operation ${method} ${pathname}.`);
  if (endpoint.kind === 'request') return endpoint;
  throw new ConsoleError('NET_NOT_IMPLEMENTED', 'A callback answers a request: it cannot be sent by hand.', {
    hint: 'Send the request that it answers; callbacks to the consumer are shown in the inbox.',
  });
}

function findDocument({ config }: ConsoleContext, role: string): string {
  if (!config.roles.some((one) => one === role)) throw notFound(`No role ${role} runs in this process.`);
  if (role === 'registry') return new URL('/openapi.json', config.registryUrl).href;
  const tried = triedRoles.find((one) => one === role);
  if (!tried) throw notFound(`The API of ${role} is described at its own address.`);
  return `${config.identities[tried].url}/openapi.json`;
}

const TryRequest = closed({
  role: oneOfTexts(triedRoles),
  method: oneOfTexts(['GET', 'POST', 'DELETE']),
  path: Type.String({ pattern: '^/', maxLength: 2_048, description: 'With its query string.' }),
  body: Type.Optional(
    Type.Object({}, { description: 'Of a POST. Ids, addresses and time in its context are filled in.' }),
  ),
  as: Type.Optional(
    Type.String({ minLength: 1, description: 'Who signs; its key must be on this machine.' }),
  ),
});
type TryRequest = Static<typeof TryRequest>;

const TryAnswer = Type.Object({
  sent: Type.Object({
    method: Type.String(),
    path: Type.String(),
    authorization: Type.String({ description: 'The signature, as it was sent.' }),
    body: Type.Optional(Type.Unknown()),
    curl: Type.String({ description: 'The same request as a command, until its signature expires.' }),
  }),
  answer: Type.Object({
    status: Type.Integer(),
    signer: Type.Union([Type.String(), Type.Null()], {
      description: 'Who signed the answer, if the signature is valid.',
    }),
    body: Type.Unknown(),
  }),
});
type TryAnswer = Static<typeof TryAnswer>;

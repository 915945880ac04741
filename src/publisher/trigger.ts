import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import { keepStrangersOut } from '../http/local-only.ts';
import type { PlainOperation } from '../http/openapi.ts';
import { ClientGone, readBody, tooLarge } from '../http/read-body.ts';
import { invalidJson, refusalExample } from '../http/refusal-examples.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { catalog, provider } from '../protocol/example-catalog.ts';
import { TriggerAnswer, TriggerRequest } from '../protocol/trigger-messages.ts';
import { type Static, Type } from '../protocol/type.ts';
import { defaultIndexName, isIndexName } from './paths.ts';
import { requireToken } from './trigger-token.ts';

// The local trigger, POST /catalog/publish (self-hosted spec: Endpoints): for the operator, with a token, unsigned; answers after the work.

export const triggerName = 'trigger';

/** The body and the files made from it are in memory at once. Crawlers accept 10 MiB per file, so there is room for many catalogs per request. */
export const maxTriggerBodyBytes = 256 * 2 ** 20;

interface TriggerOptions {
  config: Config;
  /** Undefined if none is required. */
  token: string | undefined;
  /** @param indexName the index for new catalogs, if the request names one */
  publish(body: Uint8Array, indexName: string | undefined): Promise<TriggerAnswer>;
}

export function addTriggerRoute(server: FastifyInstance, options: TriggerOptions): void {
  const { config, token } = options;
  keepStrangersOut(server, { host: config.PUBLISHER_TRIGGER_HOST, what: triggerName });
  if (token !== undefined) requireToken(server, token, config);
  server.register(async (scope) => {
    // The body is for the worker thread: here it is neither read nor parsed.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/json', (_request, _payload, done) => done(null));
    scope.post<{ Querystring: TriggerQuery }>(
      '/catalog/publish',
      { config: { operation: triggerOperation } },
      async (request, reply) => {
        refuseForOthers(request.query, config.identities.publisher.id);
        const indexName = parseIndexName(request.query);
        try {
          const body = await readBody(request.raw, { maxBytes: maxTriggerBodyBytes });
          return await options.publish(body, indexName);
        } catch (error) {
          if (error instanceof ClientGone) return reply.hijack();
          throw error;
        }
      },
    );
  });
}

const TriggerQuery = Type.Object({
  index: Type.Optional(
    Type.String({ description: `Name of the index that new catalogs go into (${defaultIndexName}).` }),
  ),
  node: Type.Optional(
    Type.String({ description: 'Whose files are meant; refused by the publisher of another node.' }),
  ),
});
type TriggerQuery = Static<typeof TriggerQuery>;

const indexNameRule = 'The name of an index has up to 64 lower-case letters, digits and -.';
const tokenAdvice =
  'It is in /var/lib/signpost/publisher/trigger-token; send it as "Authorization: Bearer …".';

export const triggerOperation: PlainOperation = {
  id: 'publishFiles',
  summary: 'Publish catalogs as signed files; retire, pause and resume published ones.',
  description:
    'Local and unsigned, with the bearer token of the trigger. Answers when the files are written.',
  query: TriggerQuery,
  body: TriggerRequest,
  answer: TriggerAnswer,
  examples: {
    parameters: { index: defaultIndexName, node: provider.bppId },
    bodies: {
      publish: { summary: 'Publish a catalog', value: { message: { catalogs: [catalog] } } },
      retire: { summary: 'Retire a catalog permanently', value: { retire: [catalog.id] } },
    },
    answer: { status: 'COMPLETED', results: [{ catalogId: catalog.id, status: 'ACCEPTED', version: 1 }] },
  },
  answers: {
    400: 'The request is wrong: SCH_… or CTX_…, with details.path. Nothing was published.',
    401: 'The token is missing or wrong: the message names its file.',
    403: 'It carries an Origin, Forwarded, Via or X-Forwarded header, or a Host that is not this machine.',
    413: 'The body is too large.',
    415: 'The body is not application/json.',
    503: 'NET_OVERLOADED: too much is waiting to be published.',
  },
  refusals: [
    invalidJson('{"message":'),
    ['missing', 'A catalog has no id', 'message.catalogs.0.id'],
    ['action', 'Another action', 'context', { action: 'discover' }],
    ['unknownMember', 'An unknown member', 'delete', []],
    refusalExample(
      'twice',
      'Published and retired at once',
      [
        'SCH_SCHEMA_VALIDATION_FAILED',
        'retire[0] names a catalog that this request already names',
        { path: '$.retire[0]' },
      ],
      { at: ['retire'], value: [catalog.id] },
    ),
    refusalExample('index', 'The name of the index is not valid', ['CTX_INVALID_FIELD', indexNameRule], {
      at: ['query', 'index'],
      value: 'My index',
    }),
    refusalExample('unsigned', 'There is no token', [
      'AUT_SIGNATURE_MISSING',
      `The trigger needs its token. ${tokenAdvice}`,
    ]),
    refusalExample('invalid', 'The token is wrong', [
      'AUT_SIGNATURE_INVALID',
      `This is not the trigger's token. ${tokenAdvice}`,
    ]),
    refusalExample('browser', 'It is sent by a page in a browser', [
      'AUT_UNAUTHORIZED_ACTION',
      'The trigger is for programs of this machine: it accepts no requests with the header origin.',
    ]),
    { name: 'large', summary: 'Larger than 256 MiB', error: tooLarge(maxTriggerBodyBytes) },
    refusalExample('mediaType', 'It is sent as a form', [
      'SCH_SCHEMA_VALIDATION_FAILED',
      'The body must be application/json.',
      { status: 415 },
    ]),
    refusalExample('overloaded', 'Too much at once', [
      'NET_OVERLOADED',
      'Too much is waiting to be published. Try again later.',
    ]),
  ],
};

/** Several publishers may run on a machine, and only one of them has a port. */
function refuseForOthers({ node }: TriggerQuery, nodeId: string): void {
  if (node === undefined || node === nodeId) return;
  const problem = `This is the trigger of ${nodeId}, not of ${node}: set PUBLISHER_TRIGGER_PORT to the port of the other one.`;
  throw new ProtocolError('CTX_INVALID_FIELD', problem);
}

function parseIndexName({ index }: TriggerQuery): string | undefined {
  if (index === undefined || isIndexName(index)) return index;
  throw new ProtocolError('CTX_INVALID_FIELD', indexNameRule);
}

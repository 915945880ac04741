import { createHmac, hkdfSync, type KeyObject } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { wantedRange } from '../http/conditional.ts';
import { cutOffIdleReader } from '../http/idle-reader.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { type Static, Type } from '../protocol/type.ts';
import { isSameSecret } from '../secret-file.ts';
import { type Download, findDownload, readDownload } from '../storage/catalog/downloads.ts';
import type { Database } from '../storage/database.ts';
import type { CatalogContext } from './context.ts';

// Downloads of large pull results (catalog spec: downloadManifest; Download rules). The address is the ticket: it carries its expiry and our
// signature over both, so every process of the service can verify it, and no Authorization is needed.

const DownloadQuery = Type.Object({
  expires: Type.Optional(Type.String({ description: 'Unix time in seconds.' })),
  signature: Type.Optional(Type.String()),
});

export function downloadUrl(
  { hosting, self }: Pick<CatalogContext, 'hosting' | 'self'>,
  { id, expiresAt }: Download,
): string {
  const expires = String(Math.floor(expiresAt.getTime() / 1000));
  return `${hosting.url}/downloads/${id}?${new URLSearchParams({ expires, signature: sign(self.privateKey, id, expires) })}`;
}

export function addDownloadRoute(server: FastifyInstance, context: CatalogContext): void {
  server.route<{ Params: { id: string }; Querystring: Static<typeof DownloadQuery> }>({
    method: ['GET', 'HEAD'],
    url: '/downloads/:id',
    config: {
      operation: {
        summary: 'Fetch the result of a pull at the address that on_pull named.',
        query: DownloadQuery,
        examples: {
          parameters: {
            id: '9d2b1c6a-6a53-4e0e-8e0b-2f9a3c7d1e55',
            expires: 1769947200,
            signature: 'c2lnbmF0dXJl',
          },
        },
        answers: {
          206: 'The requested range.',
          403: 'The service did not issue this address.',
          410: 'It has expired; pull again.',
          416: 'The range is not within the download.',
        },
      },
    },
    handler: async (request, reply) => {
      const { params, query } = request;
      checkTicket(context, params.id, query);
      const download = await findDownload(context.database, params.id);
      if (!download)
        throw new ProtocolError('CTX_INVALID_FIELD', 'There is no such download.', { status: 404 });
      return serve(context.database, download, request, reply);
    },
  });
}

function checkTicket(
  { self, now }: CatalogContext,
  id: string,
  { expires = '', signature = '' }: Static<typeof DownloadQuery>,
): void {
  if (!isSameSecret(signature, sign(self.privateKey, id, expires)))
    throw new ProtocolError('AUT_UNAUTHORIZED_ACTION', 'The service did not issue this address.');
  if (Number(expires) * 1000 <= now().getTime())
    throw new ProtocolError('CTX_TTL_EXPIRED', 'The download has expired; pull again.', { status: 410 });
}

function serve(
  database: Database,
  { id, sizeBytes, checksum }: Download,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const etag = `"${checksum.replace(':', '-')}"`;
  const range = wantedRange(request, sizeBytes, { etag });
  reply.headers({ etag, 'accept-ranges': 'bytes', 'cache-control': 'private, no-transform' });
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${sizeBytes}`);
    throw new ProtocolError('SCH_SCHEMA_VALIDATION_FAILED', `The download has ${sizeBytes} bytes.`, {
      status: 416,
    });
  }
  const { start, end } = range ?? { start: 0, end: sizeBytes - 1 };
  reply.code(range ? 206 : 200).headers({
    'content-type': 'application/gzip',
    'content-length': end - start + 1,
    'content-disposition': 'attachment; filename="catalogs.json.gz"',
    ...(range && { 'content-range': `bytes ${start}-${end}/${sizeBytes}` }),
  });
  if (request.method === 'HEAD') return reply.send();
  cutOffIdleReader(reply);
  return reply.send(Readable.from(readDownload(database, id, { start, end }), { objectMode: false }));
}

/** A secret that every process with the service's key can derive, used for nothing else. */
function sign(privateKey: KeyObject, id: string, expires: string): string {
  const secret = hkdfSync(
    'sha256',
    privateKey.export({ format: 'der', type: 'pkcs8' }),
    '',
    'signpost download addresses',
    32,
  );
  return createHmac('sha256', new Uint8Array(secret)).update(`${id}\n${expires}`).digest('base64url');
}

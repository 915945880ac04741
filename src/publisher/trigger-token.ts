import { join, resolve } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { isSameSecret, loadOrCreateToken, readIfThere } from '../secret-file.ts';

// The bearer token of the local trigger: anyone who can read the publisher's directory is its operator. The file is next to the published
// files, never among them.

type TokenSettings = Pick<Config, 'PUBLISHER_TRIGGER_TOKEN' | 'publisherDir'>;

/** Requires the token for every request except the operator's pages, which reveal and change nothing. */
export function requireToken(server: FastifyInstance, token: string, settings: TokenSettings): void {
  server.addHook('onRequest', async ({ headers, routeOptions }, reply) => {
    if (routeOptions.config.always) return;
    const given = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
    if (given !== undefined && isSameSecret(given, token)) return;
    reply.header('www-authenticate', 'Bearer realm="trigger"');
    throw headers.authorization === undefined
      ? new ProtocolError('AUT_SIGNATURE_MISSING', `The trigger needs its token. ${adviceFor(settings)}`)
      : new ProtocolError('AUT_SIGNATURE_INVALID', `This is not the trigger's token. ${adviceFor(settings)}`);
  });
}

/** The token, generated at first use; undefined if it is switched off. */
export function loadOrCreateTriggerToken(settings: TokenSettings): string | undefined {
  if (settings.PUBLISHER_TRIGGER_TOKEN !== undefined) return findTriggerToken(settings);
  return loadOrCreateToken(tokenFile(settings)).token;
}

/** The token for another program of the operator; undefined if it is switched off or does not exist yet. */
export function findTriggerToken(settings: TokenSettings): string | undefined {
  const { PUBLISHER_TRIGGER_TOKEN: given } = settings;
  if (given === 'off') return undefined;
  return given ?? readIfThere(tokenFile(settings));
}

export function tokenFile({ publisherDir }: Pick<Config, 'publisherDir'>): string {
  return join(resolve(publisherDir), 'trigger-token');
}

function adviceFor(settings: TokenSettings): string {
  const place =
    settings.PUBLISHER_TRIGGER_TOKEN === undefined
      ? `is in ${tokenFile(settings)}`
      : 'is the value of PUBLISHER_TRIGGER_TOKEN';
  return `It ${place}; send it as "Authorization: Bearer …".`;
}

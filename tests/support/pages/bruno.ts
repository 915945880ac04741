import type { Actor } from '../network/actor.ts';

// Variables that the requests of docs/api/bruno need.

/** As much of a request as the parser of Bruno gives that is used here. */
export interface BrunoRequest {
  meta: { name: string; seq: string };
  http: { method: string; url: string };
  body?: { json: string };
  vars: { req: { name: string; value: string }[] };
  script?: { res?: string };
}

/** The variables of the environment that make an actor the one who signs. */
export function brunoSigner(name: string, actor: Actor): Record<string, string> {
  const { d = '' } = actor.key.privateKey.export({ format: 'jwk' });
  return {
    [`${name}Id`]: actor.id,
    [`${name}Uri`]: actor.url,
    [`${name}KeyId`]: actor.key.recordId,
    [`${name}Seed`]: Buffer.from(d, 'base64url').toString('base64'),
  };
}

import type { Actor } from '../network/actor.ts';

// Variables that the requests of docs/api/bruno need.

/** The parts of a parsed request that are used here. */
export interface BrunoRequest {
  meta: { name: string; seq: string };
  http: { method: string; url: string };
  body?: { json: string };
  vars: { req: { name: string; value: string }[] };
  script?: { res?: string };
}

/** The environment variables that make an actor the signer. */
export function brunoSigner(name: string, actor: Actor): Record<string, string> {
  const { d = '' } = actor.key.privateKey.export({ format: 'jwk' });
  return {
    [`${name}Id`]: actor.id,
    [`${name}Uri`]: actor.url,
    [`${name}KeyId`]: actor.key.recordId,
    [`${name}Seed`]: Buffer.from(d, 'base64url').toString('base64'),
  };
}

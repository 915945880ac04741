import { errorBody, ProtocolError } from '../../../src/protocol/errors.ts';
import type { Behaviour, Received, Reply } from '../network/actor.ts';
import { findPeerFaults, type PeerFault } from './peer-schemas.ts';

// Consumers and discovery services like deployed ones: an adapter in front of them validates every message against closed schemas, and answers 400 to
// a message with any unknown member.

export interface Closed {
  /** The form in which it reports where the fault is. */
  path: keyof typeof pathForms;
  /** 200 with NACK instead of 400. */
  nack?: boolean;
}

/** Like Beckn-ONIX: slashes between names, semicolons between faults. */
export const likeOnix: Closed = { path: 'slashes' };

export function refuseWhatIsClosed({ path, nack = false }: Closed = likeOnix) {
  return ({ action, body }: Pick<Received, 'action' | 'body'>): Reply | undefined => {
    const faults = findPeerFaults(action, body);
    const [first] = faults;
    if (first === undefined) return undefined;
    const named = pathForms[path](faults);
    const error = {
      ...{ code: first.code, message: 'schema validation failed' },
      ...(named !== undefined && { details: { path: named } }),
    };
    const { messageId } = body.context;
    return { status: nack ? 200 : 400, body: { message: { status: 'NACK', messageId, error } } };
  };
}

const pathForms = {
  jsonPath: ([first]: PeerFault[]) => `$${(first?.at ?? []).map(segment).join('')}`,
  brackets: ([first]: PeerFault[]) => `$${(first?.at ?? []).map(bracketed).join('')}`,
  jsonPointer: ([first]: PeerFault[]) => `/${first?.at.join('/')}`,
  slashes: (faults: PeerFault[]) => faults.map(({ at }) => at.join('/')).join(';'),
  /** Not reported. */
  none: () => undefined,
};

function segment(name: string): string {
  return /^\d+$/.test(name) ? `[${name}]` : `.${name}`;
}

function bracketed(name: string): string {
  return /^\d+$/.test(name) ? `[${name}]` : `['${name}']`;
}

/** Its schema of the context requires the caller's id and address, which are its own here. */
export const refuseNamelessCallers: Behaviour = ({ action, body: { context } }) => {
  const side = action === 'catalog/on_publish' ? 'bpp' : 'bap';
  const missing = [`${side}Id`, `${side}Uri`].find((name) => context[name] === undefined);
  if (missing === undefined) return undefined;
  const path = `$.context.${missing}`;
  const error = errorBody(new ProtocolError('CTX_MISSING_FIELD', 'is missing', { path }));
  return { status: 400, body: { message: { status: 'NACK', messageId: context.messageId, error } } };
};

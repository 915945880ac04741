import { errorBody, ProtocolError } from '../../src/protocol/errors.ts';
import type { Behaviour, Body } from './actor.ts';

// A consumer as deployed ones are: an adapter in front of it holds every message against a closed schema, and answers 400 to the whole of one
// that has a member which the schema does not name. Its on_discover has `message.catalogs` and nothing else.

const closedMembers: Record<string, readonly string[]> = {
  $: ['context', 'message'],
  '$.message': ['catalogs'],
  '$.message.catalogs[*]': [
    ...['id', 'descriptor', 'provider', 'resources', 'offers', 'bppId', 'bppUri', 'isActive', 'validity'],
  ],
};

export const refuseUnknownMembers: Behaviour = ({ action, body }) => {
  if (action !== 'on_discover') return undefined;
  const path = findUnknown(body);
  if (path === undefined) return undefined;
  const error = errorBody(new ProtocolError('SCH_FIELD_NOT_ALLOWED', 'is not allowed', { path }));
  return { status: 400, body: { message: { status: 'NACK', messageId: body.context.messageId, error } } };
};

function findUnknown(body: Body): string | undefined {
  const objects: [string, object][] = [
    ['$', body],
    ['$.message', body.message],
    ...body.message.catalogs.map((catalog: object) => ['$.message.catalogs[*]', catalog]),
  ];
  for (const [path, object] of objects) {
    const unknown = Object.keys(object).find((name) => !closedMembers[path]?.includes(name));
    if (unknown !== undefined) return `${path}.${unknown}`;
  }
  return undefined;
}

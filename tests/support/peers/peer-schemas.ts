import type { ErrorObject } from 'ajv/dist/2020.js';
import { loadAjv } from '../../../src/protocol/ajv.ts';

// The schemas of deployed peers (Beckn-ONIX), shaped like the public text of Beckn 2.0: Catalog and the objects that its parts share are closed,
// Resource and Offer are open, and dates are date-times. Written by hand, not derived from our schemas.

const text = { type: 'string' };
const uri = { type: 'string', format: 'uri' };
const dateTime = { type: 'string', format: 'date-time' };
const ref = (name: string) => ({ $ref: `#/$defs/${name}` });
const list = (name: string) => ({ type: 'array', items: ref(name) });
const closed = (properties: object, required: string[] = []) => ({
  ...{ type: 'object', properties, required, additionalProperties: false },
});
const open = (properties: object, required: string[] = []) => ({ type: 'object', properties, required });

const definitions = {
  Descriptor: closed({
    ...{ code: text, name: text, shortDesc: text, longDesc: text, thumbnailImage: text },
    ...{ docs: list('Document'), mediaFile: list('MediaFile') },
  }),
  Document: closed({ label: text, mimeType: text, standard: text, url: uri, security: {} }),
  MediaFile: closed({ label: text, mimeType: text, uri: text }),
  Address: closed({
    ...{ streetAddress: text, extendedAddress: text, addressLocality: text, addressRegion: text },
    ...{ postalCode: text, addressCountry: text },
  }),
  Location: closed({ geo: { type: 'object' }, address: ref('Address') }, ['geo']),
  Provider: closed(
    {
      ...{ id: text, descriptor: ref('Descriptor'), availableAt: list('Location') },
      providerAttributes: { type: 'object' },
    },
    ['id'],
  ),
  TimePeriod: closed({ startDate: dateTime, endDate: dateTime, startTime: text, endTime: text }),
  Resource: open({ id: text, descriptor: ref('Descriptor'), resourceAttributes: { type: 'object' } }, ['id']),
  Consideration: open({ id: text, status: ref('Descriptor') }, ['id']),
  Offer: open(
    {
      ...{ id: text, descriptor: ref('Descriptor'), provider: ref('Provider'), validity: ref('TimePeriod') },
      ...{
        addOns: list('Offer'),
        considerations: list('Consideration'),
        offerAttributes: { type: 'object' },
      },
    },
    ['id'],
  ),
  Catalog: closed(
    {
      ...{ id: text, descriptor: ref('Descriptor'), provider: ref('Provider'), validity: ref('TimePeriod') },
      ...{ resources: list('Resource'), offers: list('Offer'), bppId: text, bppUri: uri },
      isActive: { type: 'boolean' },
    },
    ['id', 'descriptor', 'provider'],
  ),
  Result: closed({
    ...{ catalogId: text, status: text, stats: { type: 'object' }, errors: { type: 'array' } },
  }),
};

const messages: Record<string, object> = {
  on_discover: closed({ catalogs: list('Catalog') }, ['catalogs']),
  'catalog/on_pull': closed({
    ...{ status: text, catalogs: list('Catalog'), downloadManifest: {}, pagination: {}, error: {} },
  }),
  'catalog/on_publish': closed({ results: list('Result') }, ['results']),
  'catalog/push': closed({ catalogs: list('Catalog'), publishDirectives: {} }, ['catalogs']),
};

export interface PeerFault {
  code: string;
  /** Names and indexes, starting at the body. */
  at: string[];
}

/** Every fault that a peer finds in the body of a message, in the order of the text. */
export function findPeerFaults(action: string, body: unknown): PeerFault[] {
  const validate = validators[action];
  if (!validate || validate(body)) return [];
  return (validate.errors ?? []).map(toFault);
}

const { Ajv, addFormats } = loadAjv();
const ajv = new Ajv({ allErrors: true, strict: false });
addFormats(ajv);
const validators = Object.fromEntries(
  Object.entries(messages).map(([action, message]) => [
    action,
    ajv.compile({ ...closed({ context: {}, message }, ['context', 'message']), $defs: definitions }),
  ]),
);

function toFault({ keyword, instancePath, params }: ErrorObject): PeerFault {
  const at = instancePath
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const unknown = params.additionalProperty as string | undefined;
  return { code: codes[keyword] ?? 'SCH_SCHEMA_VALIDATION_FAILED', at: unknown ? [...at, unknown] : at };
}

const codes: Record<string, string> = {
  ...{ additionalProperties: 'SCH_FIELD_NOT_ALLOWED', required: 'SCH_REQUIRED_FIELD_MISSING' },
  ...{ format: 'SCH_INVALID_FORMAT', type: 'SCH_TYPE_NOT_SUPPORTED' },
};

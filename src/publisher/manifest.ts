import { createPublicKey, hash, type KeyObject } from 'node:crypto';
import { labelSha256 } from '../protocol/digest.ts';
import { identityOf, splitIdentity } from '../protocol/identity.ts';
import { publicKeyOf } from '../protocol/keys.ts';
import { proveDocument } from '../protocol/signed-document.ts';
import {
  type Manifest,
  type ManifestKey,
  SubscriberRecord,
  type SubscriberRecordFile,
} from '../protocol/signed-files.ts';
import { urlOf } from './paths.ts';
import type { Seal } from './seal.ts';

// How a crawler gets from the registry to our indexes (self-hosted spec: Endpoints). The signed manifest at its well-known path names the
// Subscriber record by digest, and the record, signed too, names the indexes. The manifest refers to an immutable copy of the record, so
// readers of an older manifest still find its record. The latest record has a permanent address, its `source_url`, where holders of a
// copy find a newer one.

export const recordPath = 'subscriber.json';

export interface NodeDetails {
  url: string;
  /** `domain` of its registry record; default: the host of its address. */
  domain?: string;
  countries?: readonly string[];
}

export interface NodeDescription extends NodeDetails, Seal {
  id: string;
  registryName: string;
  indexUrls: readonly string[];
  /** Earlier keys whose signatures are on published content. */
  formerKeys: readonly ManifestKey[];
}

export interface Times {
  now: Date;
  nextUpdate: Date;
}

interface TreeFile {
  path: string;
  bytes: Buffer;
}

/** Under its name in the manifest; `recordPath` has the same bytes. */
export function buildSubscriberRecord(node: NodeDescription, { now, nextUpdate }: Times): TreeFile {
  const { id, url, domain = new URL(url).hostname, countries = [], baseUrl, indexUrls, key } = node;
  const { namespace } = splitIdentity(identityOf(id, node.registryName));
  const record: SubscriberRecord & { details: { signing_public_key: string } } = {
    record_name: key.recordId,
    details: {
      ...{ subscriber_id: id, url, type: 'BPP', domain, countries: [...countries] },
      signing_public_key: publicKeyOf(key.privateKey),
    },
    meta: { catalog_index_urls: indexUrls.map((indexUrl) => ({ url: indexUrl })) },
  };
  const document: Omit<SubscriberRecordFile, 'proof'> = {
    dedi_version: dediVersion,
    type: 'dedi-file',
    source_url: urlOf(baseUrl, recordPath),
    next_update: nextUpdate.toISOString(),
    publisher: { domain: namespace, key: jwk(key.recordId, key.privateKey) },
    namespace,
    registry: {
      name: recordRegistry,
      schema: JSON.parse(JSON.stringify(SubscriberRecord.properties.details)),
      state: 'live',
      updated_at: now.toISOString(),
    },
    records: [record],
  };
  const bytes = render(proveDocument(document, key));
  return { path: `subscriber.${hash('sha256', bytes, 'hex').slice(0, 12)}.json`, bytes };
}

export function buildManifest(node: NodeDescription, record: TreeFile, { now, nextUpdate }: Times): Buffer {
  const { id, baseUrl, key, formerKeys, profile } = node;
  const digest = labelSha256(hash('sha256', record.bytes, 'hex'), profile);
  const document: Omit<Manifest, 'proof'> = {
    dedi_version: dediVersion,
    type: 'dedi-manifest',
    domain: splitIdentity(identityOf(id, node.registryName)).namespace,
    keys: [jwk(key.recordId, key.privateKey), ...formerKeys],
    updated_at: now.toISOString(),
    next_update: nextUpdate.toISOString(),
    files: [{ registry: recordRegistry, url: urlOf(baseUrl, record.path), digest }],
  };
  return render(proveDocument(document, key));
}

/** Whether a file of the tree is a copy of the Subscriber record for a manifest, the latest or an earlier one. */
export function isRecordPath(path: string): boolean {
  return /^subscriber\.[0-9a-f]{12}\.json$/.test(path);
}

const dediVersion = '0.1';
const recordRegistry = 'beckn_subscriber';

export function jwk(kid: string, privateKey: KeyObject): ManifestKey {
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { kid, kty: 'OKP', crv: 'Ed25519', x };
}

function render(document: object): Buffer {
  return Buffer.from(`${JSON.stringify(document, null, 2)}\n`);
}

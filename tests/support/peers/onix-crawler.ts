import { type KeyObject, verify } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { Body } from '../network/actor.ts';
import { goJson, sha256 } from './foreign-hands.ts';

// Reads a published index like a crawler of a Beckn-ONIX node, in separate code: it accepts only object signatures over the text that Go's encoder
// writes and `sha-256:` digests, and looks for isActive in the catalog, never in the entry. It throws at the first thing that such a crawler would
// drop.

/** Its copies of the catalogs that are not retired, by id. */
export async function crawlAsOnix(indexUrl: string, publicKey: KeyObject): Promise<Map<string, OnixCopy>> {
  const index = verified(await fetchJson(indexUrl), publicKey);
  const copies = new Map<string, OnixCopy>();
  for (const entry of index.catalogs.map((one: Body) => verified(one, publicKey))) {
    if (entry.retiredAt === undefined) copies.set(entry.catalogId, await readCatalog(entry, publicKey));
  }
  return copies;
}

export interface OnixCopy {
  version: number;
  isActive: boolean;
  resources: Body[];
}

async function readCatalog({ baseline, changes }: Body, publicKey: KeyObject): Promise<OnixCopy> {
  const { version, catalog } = verified(await fetchDeclared(baseline), publicKey);
  const copy = { version, catalog, resources: new Map<string, Body>() };
  for (const resource of catalog.resources ?? []) copy.resources.set(resource.id, resource);
  for (const reference of changes.filter(({ fromVersion }: Body) => fromVersion >= version)) {
    const file = verified(await fetchDeclared(reference), publicKey);
    if (file.fromVersion !== copy.version)
      throw new Error(`${reference.url} does not start at ${copy.version}`);
    copy.version = file.toVersion;
    copy.catalog = { ...copy.catalog, ...file.catalog };
    for (const id of file.resources.removals) copy.resources.delete(id);
    for (const resource of file.resources.upserts) copy.resources.set(resource.id, resource);
  }
  return {
    version: copy.version,
    isActive: copy.catalog.isActive ?? true,
    resources: [...copy.resources.values()],
  };
}

/** The signed document, if its signature is valid. */
export function verified(document: Body, publicKey: KeyObject): Body {
  const { signature, ...content } = document;
  const value = Buffer.from(String(signature?.value), 'base64');
  if (verify(null, Buffer.from(goJson(content)), publicKey, value)) return content;
  throw new Error(`Go's form of ${JSON.stringify(document).slice(0, 200)} is not what was signed`);
}

async function fetchDeclared({ url, digest }: Body): Promise<Body> {
  const served = await fetchBytes(url);
  const bytes = url.endsWith('.gz') ? gunzipSync(served) : served;
  if (digest !== `sha-256:${sha256(bytes)}`) throw new Error(`${url} does not have the digest ${digest}`);
  return JSON.parse(bytes.toString());
}

async function fetchJson(url: string): Promise<Body> {
  return JSON.parse((await fetchBytes(url)).toString());
}

async function fetchBytes(url: string): Promise<Buffer> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}

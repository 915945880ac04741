import { withoutTrailingSlashes } from './base-address.ts';

// How an `@context` and an `@type` name a domain schema. A context is usually
// `https://<host>/<Type>/<version>/context.jsonld`; the same schema is met under two hosts of one registry, with and
// without the `v` of its version, and with the name of the file or without it. All of these reduce to one address.

/** Hosts that serve the same schema registry; the first stands for all. */
const registryHosts = ['schema.nfh.global', 'schema.beckn.io'] as const;

/** Where its files are kept, on any branch. */
const repository = 'raw.githubusercontent.com/beckn/schemas';

/** Files that stand beside each other under the address of one schema. */
const schemaFile = /\/(?:context\.jsonld|schema\.json|attributes\.(?:yaml|yml|json))$/;
/** Without the file. */
const registrySchema =
  /^https?:\/\/(?:schema\.nfh\.global|schema\.beckn\.io|raw\.githubusercontent\.com\/beckn\/schemas\/[^?#]+\/schema)\/([^/?#]+)\/v?(\d[^/?#]*)\/?$/;

/** `<Type>/<version>` of a schema of the public registry, whichever of its addresses is given. */
function findRegistryName(address: string): { type: string; version: string } | undefined {
  const [, type, version] = registrySchema.exec(address.replace(schemaFile, '')) ?? [];
  return type === undefined || version === undefined ? undefined : { type, version };
}

/**
 * The one name by which schema types are compared: a context URI, perhaps with `#Type`. Addresses of one schema of the public registry have the
 * same name; other texts stay as they are.
 */
export function schemaIdentity(schemaType: string): string {
  const hash = schemaType.indexOf('#');
  const found = findRegistryName(hash === -1 ? schemaType : schemaType.slice(0, hash));
  if (!found) return schemaType;
  const type = hash === -1 ? '' : `#${bareType(schemaType.slice(hash + 1))}`;
  return `https://${registryHosts[0]}/${found.type}/v${found.version}/context.jsonld${type}`;
}

/** The one spelling of a schema's address, or undefined where the text is no address. */
export function schemaAddress(context: string): string | undefined {
  const named = findRegistryName(context.replace(/#.*$/, ''));
  if (named) return `https://${registryHosts[0]}/${named.type}/${named.version}`;
  if (!URL.canParse(context)) return undefined;
  const url = new URL(context);
  const host = isRegistryHost(url.host) ? registryHosts[0] : url.host;
  const path = withoutTrailingSlashes(url.pathname.replace(schemaFile, '')).replace(/\/v(\d[^/]*)$/, '/$1');
  // A URN has no host: `urn://example:a` would be no address any more.
  return `${url.protocol}${host === '' ? '' : '//'}${host}${path}${url.search}`;
}

/** The same address at the other hosts of the registry and in its repository, if it is one of them. */
export function registryAliases(address: string): string[] {
  if (!URL.canParse(address)) return [];
  const { host, href } = new URL(address);
  if (!isRegistryHost(host)) return [];
  const others = registryHosts.filter((other) => other !== host);
  const branches = ['main', 'refs/heads/main'].map((branch) => `${repository}/${branch}/schema`);
  return [...others, ...branches].map((other) => href.replace(host, other));
}

function isRegistryHost(host: string): boolean {
  return registryHosts.some((known) => known === host);
}

/** `<Type>/<version>` where the address ends in them: how a schema is found under whatever host it is named. */
export function typeAndVersion(address: string): string | undefined {
  return /\/([^/?#]+\/v?\d+(?:\.\d+)*)$/.exec(address)?.[1]?.replace('/v', '/');
}

/** The name without its prefix: `beckn:EnergyResource`, `https://…#EnergyResource` and `EnergyResource` are one type. */
export function bareType(type: string): string {
  return type.slice(Math.max(type.lastIndexOf(':'), type.lastIndexOf('#'), type.lastIndexOf('/')) + 1);
}

import { withoutTrailingSlashes } from './base-address.ts';

// How an `@context` and an `@type` name a domain schema. A context is usually
// `https://<host>/<Type>/<version>/context.jsonld`; the same schema is met under two hosts of one registry, with and
// without the `v` of its version, and with the name of the file or without it. All of these reduce to one address.

/** Hosts that serve the same schema registry; the first stands for all. */
const registryHosts = ['schema.nfh.global', 'schema.beckn.io'] as const;

/** Files that stand beside each other under the address of one schema. */
const schemaFile = /\/(?:context\.jsonld|schema\.json|attributes\.(?:yaml|yml|json))$/;

/** The one spelling of a schema's address, or undefined where the text is no address. */
export function schemaAddress(context: string): string | undefined {
  if (!URL.canParse(context)) return undefined;
  const url = new URL(context);
  const host = isRegistryHost(url.host) ? registryHosts[0] : url.host;
  const path = withoutTrailingSlashes(url.pathname.replace(schemaFile, '')).replace(/\/v(\d[^/]*)$/, '/$1');
  // A URN has no host: `urn://example:a` would be no address any more.
  return `${url.protocol}${host === '' ? '' : '//'}${host}${path}${url.search}`;
}

/** The same address at the other hosts of the registry, if it is one of them. */
export function registryAliases(address: string): string[] {
  if (!URL.canParse(address)) return [];
  const { host, href } = new URL(address);
  if (!isRegistryHost(host)) return [];
  return registryHosts.filter((other) => other !== host).map((other) => href.replace(host, other));
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

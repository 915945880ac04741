import { withoutTrailingSlashes } from './base-address.ts';

// How an `@context` and an `@type` name a domain schema, usually `https://<host>/<Type>/<version>/context.jsonld`. One schema has several addresses
// in one registry: with or without the `v` of its version and the name of the file. All of these are normalized to one address.

/** The public registry, under the address that represents all of its own: two hosts, and the files of its repository on any branch. */
const registry = 'https://schema.nfh.global/';
const registryAddress =
  /^https?:\/\/(?:schema\.nfh\.global|schema\.beckn\.io|raw\.githubusercontent\.com\/beckn\/schemas\/[^?#]+\/schema)\//;

/** Files in one folder, under the address of one schema. */
const schemaFile = /\/(?:context\.jsonld|schema\.json|attributes\.(?:yaml|yml|json))$/;
const schemaFolder = /^(https?:\/\/[^?#]+\/[^/?#]+)\/v?(\d[^/?#]*)\/?$/;

/** Further prefixes of addresses, each with the prefix that replaces it (SCHEMA_ALIASES). All end with a slash; the longest match wins. */
export type SchemaAliases = readonly (readonly [alias: string, prefix: string])[];

/** The normalized name for comparing schema types: registry, Type and version of a context URI, perhaps with `#Type`. Other texts stay as they are. */
export function schemaIdentity(schemaType: string): string {
  const hash = schemaType.indexOf('#');
  const context = hash === -1 ? schemaType : schemaType.slice(0, hash);
  const [, folder, version] = schemaFolder.exec(inOneRegistry(context).replace(schemaFile, '')) ?? [];
  if (folder === undefined) return schemaType;
  return `${folder}/v${version}/context.jsonld${hash === -1 ? '' : `#${bareType(schemaType.slice(hash + 1))}`}`;
}

/** All names of the requested types. Catalogs are stored under the name that they were published with, so that aliases may change at any time. */
export function schemaIdentities(schemaTypes: readonly string[], aliases: SchemaAliases): string[] {
  const names = schemaTypes.map(schemaIdentity);
  return [...new Set(names.flatMap((name) => [name, ...addressesOf(meantAddress(name, aliases), aliases)]))];
}

/** The normalized address of a schema, or undefined if the text is no address. */
export function schemaAddress(context: string, aliases: SchemaAliases = []): string | undefined {
  if (!URL.canParse(context)) return undefined;
  const { protocol, host, pathname, search } = new URL(meantAddress(new URL(context).href, aliases));
  const path = withoutTrailingSlashes(pathname.replace(schemaFile, '')).replace(/\/v(\d[^/]*)$/, '/$1');
  // A URN has no host: with slashes, `urn://example:a` would no longer be an address.
  return `${protocol}${host === '' ? '' : '//'}${host}${path}${search}`;
}

/** The other addresses by which references may name a document: in the repository of the registry on its main branch only. */
export function otherAddresses(address: string, aliases: SchemaAliases): string[] {
  const known = addressesOf(meantAddress(address, aliases), aliases);
  const inRegistry = known
    .filter((one) => one.startsWith(registry))
    .flatMap((one) => registryPrefixes.map((prefix) => prefix + one.slice(registry.length)));
  return [...new Set([...known, ...inRegistry])].filter((other) => other !== address);
}

const registryPrefixes = [
  'https://schema.beckn.io/',
  'https://raw.githubusercontent.com/beckn/schemas/main/schema/',
  'https://raw.githubusercontent.com/beckn/schemas/refs/heads/main/schema/',
];

function addressesOf(meant: string, aliases: SchemaAliases): string[] {
  const others = aliases.flatMap((pair) => {
    const [alias, prefix] = pair.map(inOneRegistry) as [string, string];
    return meant.startsWith(prefix) ? alias + meant.slice(prefix.length) : [];
  });
  return [meant, ...others];
}

function meantAddress(address: string, aliases: SchemaAliases): string {
  const known = inOneRegistry(address);
  const [found] = aliases
    .map(([alias, prefix]) => [inOneRegistry(alias), prefix] as const)
    .filter(([alias]) => known.startsWith(alias))
    .sort(([one], [other]) => other.length - one.length);
  return found ? inOneRegistry(found[1] + known.slice(found[0].length)) : known;
}

function inOneRegistry(address: string): string {
  return address.replace(registryAddress, registry);
}

/** `<Type>/<version>` at the end of the address: finds a schema under any host. */
export function typeAndVersion(address: string): string | undefined {
  return /\/([^/?#]+\/v?\d+(?:\.\d+)*)$/.exec(address)?.[1]?.replace('/v', '/');
}

/** The name without its prefix: `beckn:EnergyResource`, `https://…#EnergyResource` and `EnergyResource` are one type. */
export function bareType(type: string): string {
  return type.slice(Math.max(type.lastIndexOf(':'), type.lastIndexOf('#'), type.lastIndexOf('/')) + 1);
}

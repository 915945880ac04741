import { otherSpellings, type Role, roles, settings } from './setting-table.ts';
import { read, SettingsError } from './settings.ts';

// The checked settings of a process, and values that follow from several of them. Only this file reads the environment.

/** Roles with an identity: they sign their messages. */
export type SigningRole = 'catalog' | 'discovery' | 'publisher';

export function isSigningRole(role: Role): role is SigningRole {
  return role === 'catalog' || role === 'discovery' || role === 'publisher';
}

/** The checked settings under their names, and values that follow from several of them. */
export interface Config extends ReturnType<typeof readConfig> {
  /** Set by `signpost up`. */
  demo?: DemoNetwork;
}

/** Facts about the demo that the console shows. */
export interface DemoNetwork {
  city: { name: string; center: [latitude: number, longitude: number]; zoom: number };
  /** The provider that signs requests of the API page. */
  providerId: string;
  /** Identities that are unreachable on purpose: the log does not mention them. */
  quietAbout: readonly string[];
}

/** Reads and checks the environment; throws a SettingsError that names all wrong settings. */
export function readConfig(env: Readonly<Record<string, string | undefined>>) {
  const values = read(settings, withUsualNames(env));
  const identity = <Role extends 'CATALOG' | 'DISCOVERY' | 'PUBLISHER' | 'CONSUMER', Url>(
    role: Role,
    url: Url,
  ) => ({
    id: values[`${role}_ID`],
    /** Undefined means the newest key. */
    keyId: values[`${role}_KEY_ID`],
    /** The operator's Ed25519 seed, if given. */
    seed: values[`${role}_PRIVATE_KEY`],
    url,
  });
  const addressAt = (port: number) => ownAddress(values.HOST, port);
  const publisherUrl = values.PUBLISHER_URL ?? addressAt(values.PUBLISHER_PORT);
  if (values.SEARCH_INDEX === 'opensearch' && values.OPENSEARCH_URL.length === 0)
    throw new SettingsError('Setting SEARCH_INDEX="opensearch" needs OPENSEARCH_URL.');
  return {
    ...values,
    /** OpenSearch shows a change after it was indexed and refreshed. */
    DISCOVER_MAX_LAG_MS: values.DISCOVER_MAX_LAG_MS ?? (values.SEARCH_INDEX === 'opensearch' ? 2_000 : 0),
    roles: parseRoles(values.ROLES),
    registryUrl: values.REGISTRY_URL ?? `${addressAt(values.REGISTRY_PORT)}/dedi`,
    identities: {
      catalog: identity('CATALOG', values.CATALOG_URL ?? addressAt(values.CATALOG_PORT)),
      discovery: identity('DISCOVERY', values.DISCOVERY_URL ?? addressAt(values.DISCOVERY_PORT)),
      publisher: identity('PUBLISHER', publisherUrl),
      // A consumer only sends requests, so it needs no address.
      consumer: identity('CONSUMER', values.CONSUMER_URL),
    },
    /** The published files are in its "public". */
    publisherDir: values.PUBLISHER_DIR ?? `${values.DATA_DIR}/publisher`,
    catalogBaseUrl: values.CATALOG_BASE_URL ?? publisherUrl,
    /** The address of the local trigger for programs on this machine. */
    triggerUrl: ownAddress(values.PUBLISHER_TRIGGER_HOST, values.PUBLISHER_TRIGGER_PORT),
    consoleUrl: ownAddress(values.CONSOLE_HOST, values.CONSOLE_PORT),
  };
}

function withUsualNames(env: Readonly<Record<string, string | undefined>>): typeof env {
  const usual: Record<string, string | undefined> = { ...env };
  for (const [spelling, name] of Object.entries(otherSpellings)) {
    if (!env[spelling]) continue;
    if (env[name] && env[name] !== env[spelling])
      throw new SettingsError(`Setting ${name}="${env[name]}" differs from ${spelling}="${env[spelling]}".`);
    usual[name] = env[spelling];
  }
  return usual;
}

/** The address of this process's console, if it has one. */
export function ownConsoleUrl({ roles, consoleUrl }: Config): string | undefined {
  return roles.includes('console') ? consoleUrl : undefined;
}

/** The address where a role listens, which may differ from its public one. */
export function listeningAddress(config: Config, role: Role): string {
  const port = config[`${role.toUpperCase() as Uppercase<Role>}_PORT`];
  return originOf(role === 'console' ? config.CONSOLE_HOST : config.HOST, port);
}

/** A server that listens on all addresses is called at the loopback address. */
function ownAddress(host: string, port: number): string {
  return originOf(loopbackOf.get(host) ?? host, port);
}

const loopbackOf = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

function originOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function parseRoles(names: readonly string[]): Role[] {
  if (names.includes('all')) return [...roles];
  const unknown = names.filter((name) => !roles.some((role) => role === name));
  if (unknown.length > 0 || names.length === 0)
    throw new SettingsError(
      `ROLES has an unknown role: "${unknown.join(', ')}". Use: ${roles.join(', ')}, or all.`,
    );
  return roles.filter((role) => names.includes(role));
}

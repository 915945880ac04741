import { execFile } from 'node:child_process';
import { Resolver } from 'node:dns';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { checkSettings } from './cli/config/check.ts';
import { readConfig } from './config.ts';
import { generateSeed } from './protocol/keys.ts';
import { settings } from './setting-table.ts';

describe('settings', () => {
  it('have defaults that work on one machine', () => {
    const config = readConfig({});
    expect(config.roles).toContain('catalog');
    expect(config.BODY_SIZE_LIMIT).toBe(5_242_880);
    expect(config.registryUrl).toBe('http://127.0.0.1:4001/dedi');
    expect(config).toMatchObject({ OPERATIONS_HOST: '127.0.0.1', EMBEDDED_DATABASE: false });
    expect(config.identities.catalog).toMatchObject({ keyId: 'key-1', url: 'http://127.0.0.1:4002' });
  });

  it('read a secret from the file that its setting with _FILE names, as orchestrators mount secrets', () => {
    const folder = mkdtempSync(join(tmpdir(), 'signpost-secret-'));
    const seed = generateSeed();
    writeFileSync(join(folder, 'key'), `${seed}\n`);
    const env = { CATALOG_PRIVATE_KEY_FILE: join(folder, 'key') };
    expect(readConfig(env).identities.catalog.seed).toEqual(
      readConfig({ CATALOG_PRIVATE_KEY: seed }).identities.catalog.seed,
    );
    expect(checkSettings({ environment: [], file: Object.keys(env) }, () => readConfig(env))).toEqual([]);
    writeFileSync(join(folder, 'key'), '\n');
    expect(() => readConfig(env)).toThrow(/^Setting CATALOG_PRIVATE_KEY is empty in /);
    rmSync(folder, { recursive: true });
    expect(() => readConfig(env)).toThrow(/^Setting CATALOG_PRIVATE_KEY cannot be read from /);
  });

  it('keep every key, token and connection string secret, so that each may be in a file', () => {
    const isSecret = /(_PRIVATE_KEY|_TOKEN|_PASSWORD|_API_KEY|^DATABASE_URL|^DATABASE_READ_URL)$/;
    const secrets = Object.entries<{ secret?: boolean }>(settings).filter(([, { secret }]) => secret);
    expect(secrets.map(([name]) => name)).toEqual(
      Object.keys(settings).filter((name) => isSecret.test(name)),
    );
    expect(secrets).toHaveLength(10);
    for (const [name] of secrets)
      expect(() => readConfig({ [`${name}_FILE`]: '/nowhere' })).toThrow(
        `${name} cannot be read from /nowhere`,
      );
  });

  it('read sizes in binary units', () => {
    expect(readConfig({ BODY_SIZE_LIMIT: '1kb' }).BODY_SIZE_LIMIT).toBe(1024);
    expect(readConfig({ BODY_SIZE_LIMIT: '1.5 MB' }).BODY_SIZE_LIMIT).toBe(1_572_864);
    expect(readConfig({ BODY_SIZE_LIMIT: '77' }).BODY_SIZE_LIMIT).toBe(77);
  });

  it('name every wrong value at once, and what it must be', () => {
    const env = {
      CATALOG_PORT: '99999',
      NETWORK_MEMBERSHIP: 'maybe',
      CATALOG_URL: 'ftp://x',
      BODY_SIZE_LIMIT: 'big',
    };
    expect(() => readConfig(env)).toThrow(
      [
        'Setting CATALOG_PORT="99999" must be a whole number from 1 to 65535.',
        'Setting CATALOG_URL="ftp://x" must be an http or https URL.',
        'Setting NETWORK_MEMBERSHIP="maybe" must be one of off, enforce.',
        'Setting BODY_SIZE_LIMIT="big" must be a size such as 5242880, 512kb or 5mb.',
      ].join('\n'),
    );
  });

  it.each([
    ['CATALOG_PORT', '0', 'a whole number from 1 to 65535'],
    ['RETRY_HOURS', '10000000000', 'a number from 0 to 8760'],
    ['DOWNLOAD_TTL_SECONDS', '9000000000000000', 'a whole number from 1 to 2592000'],
    ['HISTORY_DAYS', '9007199254740991', 'a whole number from 1 to 36500'],
    ['RETRY_BASE_MS', '3000000000', 'a whole number from 1 to 300000'],
  ])('refuse %s=%s: no address, date or timer can be made of it', (name, value, wanted) => {
    expect(() => readConfig({ [name]: value })).toThrow(`Setting ${name}="${value}" must be ${wanted}.`);
  });

  it.each([
    'https://files.example.org/a?b=1',
    'https://files.example.org/#a',
    'https://files.example.org/?',
    'https://me:secret@files.example.org',
    'https://files.example.org/a b',
  ])('refuse %s as the address that paths are put behind', (value) => {
    expect(() => readConfig({ CATALOG_BASE_URL: value })).toThrow('must be a base address');
  });

  // self-hosted spec: Endpoints
  it('have the base address of files also under the name that the specification gives it', () => {
    const catalogBaseURL = 'https://files.example.org/beckn';
    expect(readConfig({ catalogBaseURL }).catalogBaseUrl).toBe(catalogBaseURL);
    expect(readConfig({ catalogBaseURL, CATALOG_BASE_URL: catalogBaseURL }).catalogBaseUrl).toBe(
      catalogBaseURL,
    );
    expect(() => readConfig({ catalogBaseURL, CATALOG_BASE_URL: 'https://x.example.org' })).toThrow(
      'differs from',
    );
    const given = { environment: ['catalogBaseURL'], file: ['catalogBaseURL'] };
    expect(checkSettings(given, () => readConfig({ catalogBaseURL }))).toEqual([]);
  });

  it('name us as a registry can, and never show a private key', () => {
    const env = {
      REGISTRY_NAME: 'a/b',
      CATALOG_ID: 'catalog "of" example',
      CATALOG_KEY_ID: '..',
      CATALOG_PRIVATE_KEY: 'not-so-secret',
      DEFAULT_NETWORK_ID: 'retail',
    };
    expect(() => readConfig(env)).toThrow(
      [
        'Setting REGISTRY_NAME="a/b" must be made only of letters, digits and . _ : ~ -.',
        'Setting CATALOG_ID="catalog "of" example" must be a domain such as bpp.example.com, or namespace/registry.',
        'Setting CATALOG_KEY_ID=".." must be made only of letters, digits and . _ : ~ -.',
        'Setting CATALOG_PRIVATE_KEY must be 32 bytes in Base64, as "signpost keys new" makes them.',
        'Setting DEFAULT_NETWORK_ID="retail" must be a network such as example.org/retail.',
      ].join('\n'),
    );
    const CATALOG_PRIVATE_KEY = generateSeed();
    expect(readConfig({ CATALOG_PRIVATE_KEY }).identities.catalog.seed).toBe(CATALOG_PRIVATE_KEY);
  });

  it.each([
    ['0.0.0.0', 'http://127.0.0.1:4002'],
    ['::', 'http://[::1]:4002'],
    ['fd00::7', 'http://[fd00::7]:4002'],
    ['catalog.example', 'http://catalog.example:4002'],
    ['toString', 'http://toString:4002'],
  ])('that listen on %s are reached at %s', (HOST, url) => {
    const config = readConfig({ HOST });
    expect(config.identities.catalog.url).toBe(url);
    expect(config.registryUrl).toBe(url.replace(':4002', ':4001/dedi'));
  });

  it.each([
    'ns.example.org',
    '192.0.2.1:0',
    '192.0.2.1:65536',
    '2001:db8::1:x',
    '[192.0.2.1]:53',
    '[2001:db8::1',
  ])('refuse %s as a name server', (value) => {
    expect(() => readConfig({ DNS_SERVERS: `192.0.2.7,${value}` })).toThrow('DNS_SERVERS');
  });

  it('take name servers with a port and without', () => {
    const servers = ['192.0.2.1', '192.0.2.1:5353', '2001:db8::1', '[2001:db8::1]', '[2001:db8::1]:53'];
    expect(readConfig({ DNS_SERVERS: servers.join(', ') }).DNS_SERVERS).toEqual(servers);
    expect(() => new Resolver().setServers(servers)).not.toThrow();
  });

  it.each([
    ['{"https://a.example/s": "https://b.example/"}', [['https://a.example/s/', 'https://b.example/']]],
    ['{"https://A.example": "https://B.example"}', [['https://a.example/', 'https://b.example/']]],
    ['', []],
  ])('read aliases of schemas as prefixes that end with a slash: %s', (given, aliases) => {
    expect(readConfig({ SCHEMA_ALIASES: given }).SCHEMA_ALIASES).toEqual(aliases);
  });

  it.each([
    ['[]', 'must be a JSON object.'],
    ['{', 'must be a JSON object.'],
    ['{"https://a.example": 1}', 'has 1, which must be an http or https URL.'],
    ['{"a": "https://b.example"}', 'has "a", which must be an http or https URL.'],
    ['{"__proto__": "https://b.example"}', 'has "__proto__", which must be an http or https URL.'],
    [
      '{"https://a.example": "https://b.example/c", "https://b.example": "https://c.example"}',
      'must not name a prefix that is itself an alias: "https://b.example/c/" begins with one.',
    ],
    [
      '{"https://a.example": "https://a.example/b"}',
      'must not name a prefix that is itself an alias: "https://a.example/b/" begins with one.',
    ],
  ])('refuse aliases of schemas that lead nowhere: %s', (given, fault) => {
    expect(() => readConfig({ SCHEMA_ALIASES: given })).toThrow(`Setting SCHEMA_ALIASES="${given}" ${fault}`);
  });

  it('name languages whose inflected forms are known', () => {
    expect(readConfig({}).SEARCH_LANGUAGES).toEqual(['en', 'hi']);
    expect(readConfig({ SEARCH_LANGUAGES: 'de, fr' }).SEARCH_LANGUAGES).toEqual(['de', 'fr']);
    expect(() => readConfig({ SEARCH_LANGUAGES: 'en,klingon' })).toThrow('names "klingon", but only ar, bg,');
  });

  it('refuse a role that does not exist', () => {
    expect(() => readConfig({ ROLES: 'catalog,baker' })).toThrow('ROLES has an unknown role: "baker"');
  });

  it('take an empty value as not set', () => {
    expect(readConfig({ CATALOG_PORT: '' }).CATALOG_PORT).toBe(4002);
  });

  it('are listed in docs/settings.md and .env.example as scripts/settings-files.mjs makes them of what is built', async () => {
    await promisify(execFile)(process.execPath, ['scripts/settings-files.mjs', '--check']);
  });

  it('are not all in .env.example: an operator can read it', () => {
    const listed = readFileSync('.env.example', 'utf8').match(/^#[A-Z_]+=/gm);
    expect(listed?.length).toBeLessThanOrEqual(45);
  });
});

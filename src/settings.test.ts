import { describe, expect, it } from 'vitest';
import { readConfig, settings } from './config.ts';
import { renderEnvExample } from './settings.ts';

describe('settings', () => {
  it('have defaults that work on one machine', () => {
    const config = readConfig({});
    expect(config.roles).toContain('catalog');
    expect(config.BODY_SIZE_LIMIT).toBe(5_242_880);
    expect(config.registryUrl).toBe('http://127.0.0.1:4001/dedi');
    expect(config.identities.catalog).toMatchObject({ keyId: 'key-1', url: 'http://127.0.0.1:4002' });
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
        'Setting CATALOG_PORT="99999" must be a whole number from 0 to 65535.',
        'Setting CATALOG_URL="ftp://x" must be an http or https URL.',
        'Setting NETWORK_MEMBERSHIP="maybe" must be one of off, enforce.',
        'Setting BODY_SIZE_LIMIT="big" must be a size such as 5242880, 512kb or 5mb.',
      ].join('\n'),
    );
  });

  it('refuse a role that does not exist', () => {
    expect(() => readConfig({ ROLES: 'catalog,baker' })).toThrow('ROLES names no role "baker"');
  });

  it('take an empty value as not set', () => {
    expect(readConfig({ CATALOG_PORT: '' }).CATALOG_PORT).toBe(4002);
  });

  it('are all listed in .env.example, with their defaults (vitest -u writes it anew)', async () => {
    await expect(renderEnvExample(settings)).toMatchFileSnapshot('../.env.example');
  });
});

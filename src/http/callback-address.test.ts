import { describe, expect, it } from 'vitest';
import { sampleContext } from '../../tests/support/catalogs/sample-messages.ts';
import { actions } from '../protocol/actions.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { callbackAddress } from './callback-address.ts';

const strict = { CHECK_CALLBACK_ORIGIN: true, ALLOW_PRIVATE_ADDRESSES: false };

function addressOf(
  bapUri: string | undefined,
  { url, config = strict }: { url?: string; config?: typeof strict } = {},
) {
  const context = { ...sampleContext(actions.pull), bapUri };
  return callbackAddress({ action: actions.pull, context, record: { url } }, actions.onPull, config);
}

describe('the address of a callback', () => {
  it('is the base address and the path of the action, joined by exactly one slash', () => {
    expect(addressOf('https://ds.example.org')).toBe('https://ds.example.org/catalog/on_pull');
    expect(addressOf('https://ds.example.org/')).toBe('https://ds.example.org/catalog/on_pull');
    expect(addressOf('https://ds.example.org/beckn')).toBe('https://ds.example.org/beckn/catalog/on_pull');
    expect(addressOf('https://ds.example.org/beckn//')).toBe('https://ds.example.org/beckn/catalog/on_pull');
  });

  it('is the bppUri of a publish', () => {
    const context = sampleContext(actions.publish);
    const address = callbackAddress(
      { action: actions.publish, context, record: {} },
      actions.onPublish,
      strict,
    );
    expect(address).toBe('https://bpp.example.org/beckn/catalog/on_publish');
  });

  it('has the origin of the registry record, where the record has an address', () => {
    const url = 'https://ds.example.org:443/other';
    expect(addressOf('https://ds.example.org/beckn', { url })).toContain('/beckn/catalog/on_pull');
    expectRefused(() => addressOf('https://elsewhere.example.org', { url }));
    expectRefused(() => addressOf('https://ds.example.org:8443', { url }));
    expectRefused(() => addressOf('https://ds.example.org', { url: 'not an address' }));
  });

  it('CTX_MISSING_FIELD: is nowhere to be found', () => {
    const code = 'CTX_MISSING_FIELD';
    expect(() => addressOf(undefined)).toThrow(expect.objectContaining({ code, path: '$.context.bapUri' }));
  });

  it('is one of the web, whatever the registry record has', () => {
    const config = { ...strict, ALLOW_PRIVATE_ADDRESSES: true };
    for (const url of ['ftp://ds.example.org', 'ds.example.org'])
      expectRefused(() => addressOf(url, { url, config }));
  });

  it('may have another origin when the operator does not check it', () => {
    const config = { ...strict, CHECK_CALLBACK_ORIGIN: false };
    const address = addressOf('https://elsewhere.example.org', { url: 'https://ds.example.org', config });
    expect(address).toBe('https://elsewhere.example.org/catalog/on_pull');
  });

  it('is public and https, unless private addresses are allowed', () => {
    const local = ['http://ds.example.org', 'https://127.0.0.1', 'https://[::1]:8443', 'https://10.1.2.3/x'];
    for (const address of local) expectRefused(() => addressOf(address));
    const config = { ...strict, ALLOW_PRIVATE_ADDRESSES: true };
    expect(addressOf('http://127.0.0.1:4003', { config })).toBe('http://127.0.0.1:4003/catalog/on_pull');
  });

  it('is no longer than an address needs to be', () => {
    const path = (length: number) => `https://ds.example.org/${'x'.repeat(length)}`;
    expect(addressOf(path(2_000))).toBe(`${path(2_000)}/catalog/on_pull`);
    expectRefused(() => addressOf(path(4_000_000)));
    expectRefused(() => addressOf(`https://ds.example.org${'/'.repeat(4_000_000)}x`));
  });

  it('names a host that can exist', () => {
    const label = 'a'.repeat(60);
    expect(addressOf(`https://${label}.${label}.${label}.example.org`)).toContain('/catalog/on_pull');
    expectRefused(() => addressOf(`https://${'a'.repeat(5_000)}.example.org`));
  });

  it('carries no password, query or fragment', () => {
    for (const rest of ['user:pw@ds.example.org', 'ds.example.org/?a=b', 'ds.example.org/#top']) {
      expectRefused(() => addressOf(`https://${rest}`));
    }
  });
});

function expectRefused(work: () => unknown): void {
  expect(work).toThrow(ProtocolError);
  expect(work).toThrow(expect.objectContaining({ code: 'CTX_INVALID_FIELD', path: '$.context.bapUri' }));
}

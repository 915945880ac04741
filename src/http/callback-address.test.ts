import { describe, expect, it } from 'vitest';
import { sampleContext } from '../../tests/support/sample-messages.ts';
import { actions } from '../protocol/actions.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { type CallbackPolicy, callbackAddress } from './callback-address.ts';

const strict: CallbackPolicy = { checkOrigin: true, allowPrivateAddresses: false };

function addressOf(bapUri: string, { url, policy = strict }: { url?: string; policy?: CallbackPolicy } = {}) {
  const action = actions.pull;
  return callbackAddress({ action, context: { ...sampleContext(action), bapUri }, record: { url } }, policy);
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
    const address = callbackAddress({ action: actions.publish, context, record: {} }, strict);
    expect(address).toBe('https://bpp.example.org/beckn/catalog/on_publish');
  });

  it('has the origin of the registry record, where the record has an address', () => {
    const url = 'https://ds.example.org:443/other';
    expect(addressOf('https://ds.example.org/beckn', { url })).toContain('/beckn/catalog/on_pull');
    expectRefused(() => addressOf('https://elsewhere.example.org', { url }));
    expectRefused(() => addressOf('https://ds.example.org:8443', { url }));
    expectRefused(() => addressOf('https://ds.example.org', { url: 'not an address' }));
  });

  it('may have another origin when the operator does not check it', () => {
    const policy = { ...strict, checkOrigin: false };
    const address = addressOf('https://elsewhere.example.org', { url: 'https://ds.example.org', policy });
    expect(address).toBe('https://elsewhere.example.org/catalog/on_pull');
  });

  it('is public and https, unless private addresses are allowed', () => {
    const local = ['http://ds.example.org', 'https://127.0.0.1', 'https://[::1]:8443', 'https://10.1.2.3/x'];
    for (const address of local) expectRefused(() => addressOf(address));
    const policy = { ...strict, allowPrivateAddresses: true };
    expect(addressOf('http://127.0.0.1:4003', { policy })).toBe('http://127.0.0.1:4003/catalog/on_pull');
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

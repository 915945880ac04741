import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { LargeCallbacks } from '../../src/http/authenticate.ts';
import { createLargeBodies } from '../../src/http/large-bodies.ts';
import { silentLogger } from '../../src/logger.ts';
import { actions } from '../../src/protocol/actions.ts';
import { parseJson } from '../../src/protocol/json.ts';
import { chainValues, signRequest } from '../../src/protocol/request-signature.ts';
import {
  bodyOf,
  closeAll,
  consumer,
  limitsWith,
  provider,
  service,
  start,
} from '../support/network/signed-actions.ts';
import { type Outgoing, type Sent, send, sendSigned } from '../support/network/signed-service.ts';

// Four-line callbacks with bodies above 64 KiB (protocol decisions: which parts are parsed before the signature is verified).

const scanner = createLargeBodies(silentLogger());
afterEach(closeAll);
afterAll(() => scanner.close());

const attackerAddress = '127.0.0.66';
const request = signRequest(service, Buffer.from('{}'), { now: new Date() });
const [signature = ''] = chainValues(request);
const findSentRequest = async (messageId: string) => (messageId === 'm-1' ? chainValues(request) : []);

/** A body of many small members, the slowest to parse; the context comes last. */
function largeBody(bytes: number): Buffer {
  const catalogs = `{"status":"COMPLETED","catalogs":[],"x":[${'{"a":1},'.repeat(bytes / 8 - 100)}0]}`;
  const { context } = JSON.parse(bodyOf(actions.onPull, { messageId: 'm-1' }));
  return Buffer.from(`{"message":${catalogs},"context":${JSON.stringify(context)}}`);
}

describe('a large callback with a chain', () => {
  const largest = largeBody(16 * 1024 * 1024);

  it('is refused before its body is there, when no request to its signer is open', async () => {
    const { url } = await startOnPull({ isAwaited: async () => false });
    const answer = await send(`${url}/catalog/on_pull`, {
      ...forged(largest),
      headers: { ...forged(largest).headers, 'content-length': String(largest.length) },
      body: undefined,
      write: (sending) => void sending.write(largest.subarray(0, 1_000)), // the rest is never sent
    });
    expect([answer.status, answer.json.message?.error?.code]).toEqual([401, 'AUT_SIGNATURE_INVALID']);
  });

  it('is refused without a scan when it comes in chunks, and no request to its signer is open', async () => {
    let scans = 0;
    const { url } = await startOnPull({
      isAwaited: async () => false,
      scan: async () => {
        scans += 1;
        return undefined;
      },
    });
    const chunked = {
      ...forged(largest),
      body: undefined,
      write: (sending) => void sending.end(largest),
    } as Outgoing;
    const answer = await send(`${url}/catalog/on_pull`, chunked);
    expect([answer.status, scans]).toEqual([401, 0]);
  });

  it('is refused where nobody keeps account of open requests', async () => {
    const { url } = await start(actions.onPull, { findSentRequest });
    const body = largeBody(100_000);
    const answer = await sendSigned(`${url}/catalog/on_pull`, { from: provider, body, answering: signature });
    expect(answer.status).toBe(401);
  });

  it('is looked into beside the main thread, when one is open: a forged one holds nobody up', async () => {
    const asked: string[] = [];
    const { url } = await startOnPull({
      isAwaited: async (identity) => {
        asked.push(identity);
        return true;
      },
    });
    const parseMs = timed(() => parseJson(largest));
    const blocked: number[] = [];
    // The minimum of several: a busy machine may stop this process at any time.
    for (let attempt = 0; attempt < 4; attempt++) {
      const delay = monitorEventLoopDelay({ resolution: 5 });
      delay.enable();
      const answer = await send(`${url}/catalog/on_pull`, forged(largest));
      delay.disable();
      expect([answer.status, answer.json.message?.error?.code]).toEqual([401, 'AUT_SIGNATURE_INVALID']);
      blocked.push(delay.max / 1e6);
    }
    expect(asked).toContain('bpp.example.org/subscribers.beckn.one');
    expect(Math.min(...blocked)).toBeLessThan(parseMs / 2);
  });

  it('is taken when its chain is genuine, wherever in it the messageId stands', async () => {
    const { url } = await startOnPull();
    const body = largeBody(200_000);
    const post = async (answering: string, from = provider): Promise<Sent> =>
      await sendSigned(`${url}/catalog/on_pull`, { from, body, answering });
    expect((await post(signature)).status).toBe(200);
    expect((await post(request)).status).toBe(200);
    expect((await post(signature, { ...provider, privateKey: consumer.privateKey })).status).toBe(401);
  });
});

async function startOnPull(callbacks: Partial<LargeCallbacks> = {}) {
  const largeCallbacks = { isAwaited: async () => true, scan: scanner.scan, ...callbacks };
  const limits = limitsWith({ bulkBodyBytes: 17 * 1024 * 1024 });
  return await start(actions.onPull, { findSentRequest, largeCallbacks, limits });
}

/** From a sender that knows a keyId, but has no key. */
function forged(body: Buffer): Outgoing {
  const authorization = signRequest({ ...provider, privateKey: consumer.privateKey }, Buffer.from('{}'), {
    now: new Date(),
    answering: signature,
  });
  return { headers: { authorization }, body, localAddress: attackerAddress };
}

function timed(work: () => void): number {
  const since = performance.now();
  work();
  return performance.now() - since;
}

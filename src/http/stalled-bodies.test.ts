import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  bodyOf,
  closeAll,
  limitsWith,
  provider,
  publish,
  start,
} from '../../tests/support/network/signed-actions.ts';
import { type RunningServer, send } from '../../tests/support/network/signed-service.ts';
import { patienceMs } from '../../tests/support/patience.ts';
import { actions } from '../protocol/actions.ts';
import { signRequest } from '../protocol/request-signature.ts';
import { createReceiveBudget } from './receive-budget.ts';
import type { SignedService } from './signed-route.ts';

// Bodies that are begun and never ended, from another address than the honest publisher's. They are enough to fill the whole budget, here a small
// one.

const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await closeAll();
});

const wholeBytes = 4 * 1024 * 1024;
const bodies = 42;
/** A fifth of the share of one address here. These are read as they come, and larger ones in turns. */
const bodyBytes = Math.floor(wholeBytes / 8 / 5);
const largeBytes = 150 * 1024;
const attackerAddress = '127.0.0.66';
/** Without a limit for stalls, so that only the shares keep the way open. */
const patient = { bytes: 1, everyMs: 600_000 };

const forged = () => signRequest(provider, Buffer.from('another body'), { now: new Date() });

describe.each([
  ['without Authorization', () => undefined],
  ['with a known keyId and a false signature', forged],
])('stalled bodies %s', (_what, authorization) => {
  it('do not stop an honest publisher', async () => {
    const running = await startSmall();
    const stalled = await stall(running, authorization());
    await fillUp(stalled);
    for (let count = 0; count < 5; count += 1) expect((await publish(running.url)).status).toBe(200);
  });

  it('do not stop an honest publisher behind the same trusted proxy', async () => {
    const running = await startSmall({}, { trustProxy: ['127.0.0.66'] });
    const stalled = await stall(running, authorization(), { headers: { 'x-forwarded-for': '203.0.113.66' } });
    await fillUp(stalled);
    for (let count = 0; count < 5; count += 1) {
      const honest = { localAddress: attackerAddress, headers: { 'x-forwarded-for': '198.51.100.7' } };
      expect((await publish(running.url, honest)).status).toBe(200);
    }
    const same = { localAddress: attackerAddress, headers: { 'x-forwarded-for': '203.0.113.66' } };
    // The attacker has filled the share of his own address, if his bodies were read at all.
    expect((await publish(running.url, same)).status).toBe(authorization() === undefined ? 200 : 503);
  });
});

describe('a large body of a sender that nobody knows yet', () => {
  it('is read whole, in turns with the stalled ones of another address', async () => {
    const running = await startSmall();
    await stall(running, forged(), { bytes: largeBytes });
    const body = bodyOf(actions.publish).padEnd(largeBytes);
    const authorization = signRequest(provider, Buffer.from(body), { now: new Date() });
    const sent = { localAddress: '127.0.0.67', headers: { authorization }, body };
    expect((await send(`${running.url}/catalog/publish`, sent)).status).toBe(200);
  });
});

describe('a stalled body', () => {
  it('without Authorization is answered at once, whatever is still to come', async () => {
    const { port } = await startSmall();
    const { received } = begin(port, 'x: y', bodyBytes);
    await vi.waitFor(
      () => expect(received()).toMatch(/^HTTP\/1\.1 401 [\s\S]*AUT_SIGNATURE_MISSING/),
      patienceMs,
    );
  });

  it('that is small is waited for one second, for the messageId of the refusal', async () => {
    const { port } = await startSmall();
    const since = performance.now();
    const { received } = begin(port, 'x: y', 100);
    await vi.waitFor(
      () => expect(received()).toMatch(/^HTTP\/1\.1 401 [\s\S]*AUT_SIGNATURE_MISSING/),
      patienceMs,
    );
    expect(performance.now() - since).toBeGreaterThan(900);
  });

  it('with a known keyId is cut off when it brings too little in a while, and its room is free again', async () => {
    const running = await startSmall({ bodyProgress: { bytes: 1_000, everyMs: 300 } });
    const stalled = await stall(running, forged());
    await vi.waitFor(() => {
      const answers = stalled.map(({ received }) => /^HTTP\/1\.1 (\d+)/.exec(received())?.[1]);
      expect(answers.every((status) => status === '408' || status === '503')).toBe(true);
    }, patienceMs);
    expect((await publish(running.url, { localAddress: attackerAddress })).status).toBe(200);
  });

  it('of a known publisher at one address leaves the others there alone', async () => {
    const running = await startSmall();
    expect((await publish(running.url, { localAddress: attackerAddress })).status).toBe(200);
    const stalled = await stall(running, forged());
    await fillUp(stalled);
    const stranger = await send(`${running.url}/catalog/publish`, {
      localAddress: attackerAddress,
      headers: { authorization: forged() },
      body: bodyOf(actions.publish),
    });
    expect(stranger.status).toBe(503); // claims to be the publisher whose share is full
    const other = await send(`${running.url}/catalog/publish`, { localAddress: attackerAddress, body: '{}' });
    expect(other.status).toBe(401);
  });
});

async function startSmall(
  overrides: Partial<SignedService> = {},
  options: Parameters<typeof start>[3] = {},
): Promise<RunningServer> {
  const receiving = createReceiveBudget({ wholeBytes });
  const limits = limitsWith({ bodyBytes: 2 * bodyBytes });
  return await start(
    actions.publish,
    { receiving, limits, bodyProgress: patient, ...overrides },
    undefined,
    options,
  );
}

interface Stalled {
  socket: Socket;
  received: () => string;
}

async function stall(
  { port }: RunningServer,
  authorization: string | undefined,
  { bytes = bodyBytes, headers = {} }: { bytes?: number; headers?: Record<string, string> } = {},
): Promise<Stalled[]> {
  const all = { ...headers, ...(authorization && { authorization }) };
  const lines = Object.entries({ x: 'y', ...all }).map(([name, value]) => `${name}: ${value}`);
  return Array.from({ length: bodies }, () => begin(port, lines.join('\r\n'), bytes));
}

/** All but one byte of a body. */
function begin(port: number, headers: string, bytes: number): Stalled {
  const socket = connect({ port, host: '127.0.0.1', localAddress: attackerAddress });
  sockets.push(socket);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString();
  });
  socket.on('error', () => undefined);
  socket.write(`POST /catalog/publish HTTP/1.1\r\nhost: x\r\n${headers}\r\ncontent-length: ${bytes}\r\n\r\n`);
  socket.write(Buffer.alloc(bytes - 1, ' '));
  return { socket, received: () => received };
}

/** Until each body is refused or read as far as it came; some are refused in either case. */
async function fillUp(stalled: readonly Stalled[]): Promise<void> {
  const isRefused = ({ received }: Stalled) => received() !== '';
  const isTaken = ({ socket }: Stalled) => socket.bytesWritten > bodyBytes && socket.writableLength === 0;
  await vi.waitFor(() => {
    expect(stalled.every((one) => isRefused(one) || isTaken(one))).toBe(true);
    expect(stalled.filter(isRefused).length).toBeGreaterThan(0);
  }, patienceMs);
}

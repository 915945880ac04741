import type { LookupAddress, LookupOptions } from 'node:dns';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type NameServer, startNameServer, type Zone } from '../../tests/support/network/name-server.mjs';
import { until } from '../../tests/support/time.ts';
import { createNameLookup, type NameLookupOptions } from './name-lookup.ts';
import { openSystemNames, parseHosts, parseResolvConf, spellOut } from './system-names.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Resolve = (name: string, options?: LookupOptions) => Promise<string | LookupAddress[]>;

async function open(
  zone: Zone,
  options: Omit<NameLookupOptions, 'servers'> = {},
): Promise<{ server: NameServer; resolve: Resolve }> {
  const server = await startNameServer(zone);
  closers.push(() => server.stop());
  const system = openSystemNames({ hostsPath: '/nowhere', resolvPath: '/nowhere' });
  const lookup = createNameLookup({ servers: [server.address], system, ...options });
  const resolve: Resolve = (name, asked = { all: true }) =>
    new Promise((fulfil, reject) => {
      lookup(name, asked, (error, found) => (error ? reject(error) : fulfil(found)));
    });
  return { server, resolve };
}

const four = [{ address: '192.0.2.1', family: 4 }];
/** Even a busy machine does not reach it. */
const patientMs = 120_000;

describe('a name', () => {
  it('is resolved by the name servers, in both families, however it is spelled', async () => {
    const { resolve } = await open(() => ({ A: ['192.0.2.1', '192.0.2.2'], AAAA: ['2001:db8::7'] }), {
      limits: { deadlineMs: patientMs },
    });
    const addresses = await resolve('one.test');
    expect(addresses).toContainEqual({ address: '192.0.2.1', family: 4 });
    expect(addresses).toContainEqual({ address: '192.0.2.2', family: 4 });
    expect(await resolve('ONE.Test.')).toContainEqual({ address: '192.0.2.1', family: 4 });
    expect(await resolve('one.test', { family: 4, all: true })).toHaveLength(2);
    expect(await resolve('one.test', {})).toMatch(/^192\.0\.2\.[12]$/);
  });

  it('has the addresses of IPv6 where it has no others', async () => {
    const { resolve } = await open(() => ({ AAAA: ['2001:db8::7'] }));
    expect(await resolve('six.test')).toEqual([{ address: '2001:db8::7', family: 6 }]);
    expect(await resolve('six.test', { family: 6 })).toBe('2001:db8::7');
    await expect(resolve('six.test', { family: 4 })).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('has its IPv4 addresses although its servers do not answer questions for IPv6', async () => {
    const { resolve } = await open((_name, type) => (type === 'A' ? { A: ['192.0.2.1'] } : 'silent'));
    expect(await resolve('half.test')).toEqual(four);
  });

  it('has a few of its addresses where its zone lists very many', async () => {
    const { resolve } = await open(() => ({ A: Array.from({ length: 25 }, (_, last) => `192.0.2.${last}`) }));
    expect(await resolve('many.test')).toHaveLength(8);
  });

  it('is asked for once while it is being asked for, and again when its zone says so', async () => {
    let ttlSeconds = 60;
    const { server, resolve } = await open(() => ({ A: ['192.0.2.1'], ttlSeconds }));
    await Promise.all(Array.from({ length: 50 }, () => resolve('kept.test')));
    await resolve('kept.test');
    expect(countOf(server, 'A kept.test')).toBe(1);
    ttlSeconds = 0;
    await resolve('fleeting.test');
    await resolve('fleeting.test');
    expect(countOf(server, 'A fleeting.test')).toBe(2);
  });

  it('is not kept for longer than we keep any, whatever its zone says', async () => {
    const { server, resolve } = await open(() => ({ A: ['192.0.2.1'], ttlSeconds: 86_400 }), {
      limits: { maxKeptMs: 50 },
    });
    await until(async () => {
      await resolve('kept.test');
      return countOf(server, 'A kept.test') > 1;
    }, 'the name to be asked for again');
  });

  it('that does not exist is ENOTFOUND, which is remembered for a while', async () => {
    const { server, resolve } = await open(() => undefined);
    for (let time = 0; time < 3; time += 1)
      await expect(resolve('nobody.test')).rejects.toMatchObject({
        code: 'ENOTFOUND',
        hostname: 'nobody.test',
      });
    expect(countOf(server, 'A nobody.test')).toBe(1);
  });

  it.each(['silent', 'failed'] as const)(
    'whose servers are %s is EAI_AGAIN, which is remembered for a while',
    async (how) => {
      let answer: ReturnType<Zone> = how;
      const { resolve } = await open(() => answer, { limits: { deadlineMs: 200 } });
      await expect(resolve('slow.test')).rejects.toMatchObject({ code: 'EAI_AGAIN' });
      answer = { A: ['192.0.2.1'] };
      await expect(resolve('slow.test')).rejects.toMatchObject({ code: 'EAI_AGAIN' });
    },
  );
});

describe('one slow zone', () => {
  const slowZone: Zone = (name) =>
    name.endsWith('.slow.co.in') ? 'silent' : { A: ['192.0.2.1'], ttlSeconds: 0 };

  it('delays only itself, with hundreds of its names waited for, by a few questions at a time', async () => {
    const { server, resolve } = await open(slowZone);
    const waiting = Array.from({ length: 300 }, (_, index) =>
      resolve(`n${index}.slow.co.in`).catch(({ code }) => code),
    );
    await until(() => server.questions.length >= 64, 'the questions of the slow zone');
    expect(await resolve('quick.co.in')).toEqual(four);
    expect(await resolve('also.quick.co.in')).toEqual(four);
    const asked = new Set(server.questions.filter((question) => question.endsWith('.slow.co.in')));
    expect(asked.size).toBeLessThanOrEqual(2 * 32);
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['EAI_AGAIN']));
  });

  it('is given up at the deadline, and its turns go to others of the zone', async () => {
    let isSlow = true;
    const { server, resolve } = await open(() => (isSlow ? 'silent' : { A: ['192.0.2.1'] }), {
      limits: { turns: { size: 1 }, deadlineMs: 1_000 },
    });
    const first = resolve('a.slow.test').catch(({ code }) => code);
    await until(() => server.questions.length > 0, 'the first question');
    expect(await first).toBe('EAI_AGAIN');
    isSlow = false;
    expect(await resolve('b.slow.test')).toEqual(four);
  });
});

describe('what the machine knows itself', () => {
  function inDirectory(): {
    write(hosts: string, resolv?: string): void;
    hostsPath: string;
    resolvPath: string;
  } {
    const directory = mkdtempSync(join(tmpdir(), 'names-'));
    closers.push(() => rmSync(directory, { recursive: true }));
    const [hostsPath, resolvPath] = [join(directory, 'hosts'), join(directory, 'resolv.conf')];
    return {
      hostsPath,
      resolvPath,
      write(hosts, resolv = '') {
        writeFileSync(hostsPath, hosts);
        writeFileSync(resolvPath, resolv);
      },
    };
  }

  it('counts before any name server: the hosts file, which may change, and localhost', async () => {
    const files = inDirectory();
    files.write('# ours\n10.0.0.5  registry.test Reg # the registry\n10.0.0.6 registry.test\n');
    const { server, resolve } = await open(() => undefined, { system: openSystemNames(files) });
    expect(await resolve('registry.test')).toEqual([
      { address: '10.0.0.5', family: 4 },
      { address: '10.0.0.6', family: 4 },
    ]);
    expect(await resolve('reg', {})).toBe('10.0.0.5');
    expect(await resolve('localhost', { family: 4 })).toBe('127.0.0.1');
    expect(await resolve('some.localhost')).toContainEqual({ address: '::1', family: 6 });
    expect(await resolve('192.0.2.9', {})).toBe('192.0.2.9');
    expect(server.questions).toEqual([]);
    files.write('10.0.0.77 registry.test\n');
    await until(async () => (await resolve('registry.test', {})) === '10.0.0.77', 'the new address');
  });

  it('of hosts is read from lines of an address and its names', () => {
    expect(parseHosts('127.0.0.1 localhost a\n::1 localhost\n\nnonsense b\n # 1.1.1.1 c')).toEqual(
      new Map([
        ['localhost', ['127.0.0.1', '::1']],
        ['a', ['127.0.0.1']],
      ]),
    );
  });

  it.each([
    ['catalog', 'search a.test b.test.', ['catalog.a.test', 'catalog.b.test', 'catalog']],
    ['peer.example.org', 'search a.test', ['peer.example.org', 'peer.example.org.a.test']],
    ['catalog.shop', 'search svc.test\noptions edns0 ndots:5', ['catalog.shop.svc.test', 'catalog.shop']],
    ['catalog', 'search a.test\noptions ndots:0', ['catalog', 'catalog.a.test']],
    ['peer.example.org.', 'search a.test\noptions ndots:5', ['peer.example.org']],
    ['catalog', 'domain a.test\nsearch b.test', ['catalog.b.test', 'catalog']],
    ['catalog', '', ['catalog']],
  ])('of search domains spells out %s under "%s"', (name, text, expected) => {
    expect(spellOut(name, parseResolvConf(text))).toEqual(expected);
  });
});

function countOf({ questions }: NameServer, question: string): number {
  return questions.filter((asked) => asked === question).length;
}

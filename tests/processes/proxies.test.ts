import { createServer, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../src/protocol/actions.ts';
import { freePort } from '../support/free-port.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import {
  ask,
  hasCommand,
  type ReverseProxy,
  startCaddy,
  startNginx,
} from '../support/processes/reverse-proxy.ts';
import { until } from '../support/time.ts';

// The proxies of deploy/ in front of a catalog service: signed messages pass unchanged, limits and time-outs match, and the role learns the client's address.

const mebibyte = 1024 * 1024;

describe.each([
  ['nginx', startNginx],
  ['caddy', startCaddy],
] as const)('a catalog service behind %s', (name, start) => {
  describe.skipIf(!hasCommand(name))(`(needs ${name})`, () => {
    let network: TestNetwork;
    let proxy: ReverseProxy;
    let echo: Server;
    const lengths: number[] = [];

    beforeAll(async () => {
      network = await startNetwork({ settings: { TRUSTED_PROXIES: '127.0.0.1' } });
      const echoPort = await freePort();
      // In place of the discovery service, returns what the proxy sends.
      echo = createServer(async (request, response) => {
        lengths.push((await buffer(request).catch(() => '')).length);
        response.end(JSON.stringify(request.headers));
      });
      await new Promise<void>((resolve) => echo.listen(echoPort, '127.0.0.1', resolve));
      proxy = await start({ catalog: Number(new URL(network.catalogUrl).port), discovery: echoPort });
    });
    afterAll(async () => {
      await proxy?.stop();
      await network?.close();
      echo?.close();
    });

    it('takes a signed publish, answers with a signature, and calls back', async () => {
      const provider = await network.actor(`provider-${name}`);
      const { body, authorization, messageId } = provider.sign(actions.publish, {
        catalogs: [tea(name)],
      });
      const { path } = actions.publish;
      const answer = await ask(proxy.catalog, { path, method: 'POST', headers: { authorization }, body });
      expect(answer.status, answer.body.toString()).toBe(200);
      expect(answer.headers.signature).toContain('keyId="catalog.signpost.test|key-1|ed25519"');
      const called = await until(
        () => provider.received.find((received) => received.body.context.messageId === messageId),
        'on_publish',
      );
      expect(called.body.message.results[0].status).toBe('ACCEPTED');
    });

    it('refuses by itself, and not by the proxy, a body that is too large for the role', async () => {
      const { path } = actions.publish;
      const body = Buffer.alloc(6 * mebibyte, ' ');
      const answer = await ask(proxy.catalog, { path, method: 'POST', body });
      expect(answer.status).toBe(413);
      expect(answer.headers['content-type']).toContain('application/json');
    });

    it('is spared bodies that no role would take', async () => {
      const { path } = actions.publish;
      const body = Buffer.alloc(18 * mebibyte, ' ');
      // The proxy may hang up in the middle of the body; Caddy 2.6 answers 502.
      const status = await ask(proxy.discovery, { path, method: 'POST', body }).then(
        (answer) => answer.status,
        () => 413,
      );
      expect([413, 502]).toContain(status);
      expect(Math.max(...lengths, 0)).toBeLessThanOrEqual(17 * mebibyte);
    });

    it('is told the address of the client, whatever that says of itself, and the host that was asked for', async () => {
      const forged = {
        'x-forwarded-for': '192.0.2.7',
        'x-forwarded-proto': 'http',
        'x-forwarded-host': 'evil.example',
      };
      const { body } = await ask(proxy.discovery, { path: '/', headers: forged });
      const headers = JSON.parse(body.toString());
      expect(headers['x-forwarded-for']).toBe('127.0.0.2');
      expect(headers['x-forwarded-proto']).toBe('https');
      expect(headers['x-forwarded-host']).toContain(proxy.discovery.host);
      expect(headers.host).toContain(proxy.discovery.host);
    });
  });
});

function tea(name: string): object {
  return {
    id: `tea-${name}`,
    descriptor: { name: 'Tea' },
    provider: { id: 'teahouse', descriptor: { name: 'Teahouse' } },
    resources: [{ id: 'assam', descriptor: { name: 'Assam' } }],
  };
}

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { takeTime, until } from '../../tests/support/time.ts';
import { createMetrics } from '../metrics.ts';
import { startSdk } from './sdk.ts';

// A web server that is no collector, as when OTEL_EXPORTER_OTLP_ENDPOINT names the wrong port.

let server: Server;
let requests: number;
beforeEach(async () => {
  requests = 0;
  server = createServer((request, response) => {
    requests += 1;
    request.resume();
    response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${port}`);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

it('warns once a minute where nobody takes what is exported', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const metrics = createMetrics({ process: false });
  metrics.counter('tried_total', 'How often it was tried').inc();
  const sdk = startSdk({ serviceName: 'test', exportEveryMs: 100, metrics, logger });
  try {
    await until(() => lines.length > 0, 'the warning');
    expect(lines[0]).toContain('OTEL_EXPORTER_OTLP_ENDPOINT does not accept the exported data');
    const before = requests;
    await until(() => requests >= before + 3, 'further exports');
    await takeTime(100);
    expect(lines).toHaveLength(1);
  } finally {
    await sdk.close();
  }
});

import { createServer } from 'node:net';

// Ports for servers whose address is needed before they listen, or while they are down. They are below the ports that systems assign to connections
// and to requests for any port (from 32768 or 49152), so that nobody else gets them meanwhile.

// Each worker of the test runner has a slice of them, so that workers never share a port.

const workers = 16;
const slice = 12_000 / workers;
const first = 20_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % workers) * slice;
const end = first + slice;

/** Starts anywhere in the slice, so that it rarely picks a port that the previous test file has just closed. */
let next = first + Math.floor(Math.random() * slice);

export async function freePort(): Promise<number> {
  for (;;) {
    const port = next;
    next = port + 1 === end ? first : port + 1;
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

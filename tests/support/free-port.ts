import { createServer } from 'node:net';

// Ports for servers whose address others are told before they listen, or while they are down. They lie below those that a system gives to
// connections and to whoever asks for any port (from 32768 on, or 49152): nobody else is given one meanwhile.

// Each worker of the test runner has a slice of them, so that no other is given a port before it listens there.

const workers = 16;
const slice = 12_000 / workers;
const first = 20_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % workers) * slice;
const end = first + slice;

/** Begins anywhere in the slice: what the test file before has just closed is seldom asked for at once. */
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

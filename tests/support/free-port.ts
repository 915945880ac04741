import { createServer } from 'node:net';

// Ports for servers whose address others are told before they listen, or while they are down. They lie below those that a system gives to
// connections and to whoever asks for any port (from 32768 on, or 49152): nobody else is given one meanwhile.

const [first, end] = [20_000, 32_000];

/** Each process of tests begins somewhere else and goes on from there, so that none is given twice. */
let next = first + Math.floor(Math.random() * (end - first));

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

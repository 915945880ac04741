// Shared by the benchmark and the server that plays the nodes.

export const network = 'bench.org/crawl';
export const registryName = 'subscribers.beckn.one';

export function identityOf(number) {
  return `node-${number}.bench`;
}

/** Separate loopback addresses, because the work at one host is done in turn. */
export function addressOf(number, port) {
  return `127.1.${number >> 8}.${number & 255}:${port}`;
}

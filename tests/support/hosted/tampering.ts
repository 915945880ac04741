import { gzipSync } from 'node:zlib';
import type { HostedAnswer, Spoiler } from './tampering-proxy.ts';

// Faults of a hosted file on its way: attackers and broken hosts, without a key of the node. forged-node.ts makes wrong files that a node signs itself.

export type HostedKind = 'manifest' | 'record' | 'index' | 'baseline' | 'change';

/** The kind of document at a path of a published tree. */
export function kindOf(path: string): HostedKind | undefined {
  if (path.startsWith('/.well-known/')) return 'manifest';
  if (path.startsWith('/subscriber.')) return 'record';
  if (path.startsWith('/index/')) return 'index';
  if (path.startsWith('/catalogs/changes/')) return 'change';
  return path.startsWith('/catalogs/') ? 'baseline' : undefined;
}

/** Spoils only documents of this kind. */
export function only(kind: HostedKind, spoiler: Spoiler): Spoiler {
  return (path, answer, response) => (kindOf(path) === kind ? spoiler(path, answer, response) : undefined);
}

/** Replaces text. */
export function replaced(from: string | RegExp, to: string): Spoiler {
  return (_path, { body }) => {
    const text = body.toString();
    const changed = text.replace(from, to);
    if (changed === text) throw new Error(`there is no ${from} to be replaced`);
    return { body: Buffer.from(changed) };
  };
}

/** A different answer; text and bytes are sent unchanged. */
export function answers(
  status: number,
  content: string | Buffer = '',
  headers: Record<string, string> = {},
): Spoiler {
  return () => ({ status, headers, body: Buffer.from(content) });
}

/** "Nothing new", for every request. */
export const unchanged = answers(304);

/** Serves an earlier answer. */
export function oldCopy(copy: HostedAnswer): Spoiler {
  return () => copy;
}

/** The current answer, to serve it again later. */
export async function copyOf(address: string): Promise<HostedAnswer> {
  const answer = await fetch(address);
  const headers = { etag: answer.headers.get('etag') ?? '' };
  return { status: 200, headers, body: Buffer.from(await answer.arrayBuffer()) };
}

/** Redirects from one address to the next without end. */
export const endlessRedirect: Spoiler = (path) => {
  const [place = '', count = '0'] = path.split('?');
  return { status: 302, headers: { location: `${place}?${Number(count) + 1}` }, body: Buffer.alloc(0) };
};

/** A few kilobytes that inflate to `bytes`. */
export function gzipBomb(bytes: number, headers: Record<string, string> = {}): Spoiler {
  return answers(200, gzipSync(Buffer.alloc(bytes, ' ')), headers);
}

/** Starts to answer, and never finishes. */
export const slow: Spoiler = (_path, { body }, response) => {
  response.writeHead(200, { 'content-length': body.length });
  response.write(body.subarray(0, body.length / 2));
  return 'taken';
};

/** The connection breaks in the middle of the answer. */
export const broken: Spoiler = (_path, { body }, response) => {
  response.writeHead(200, { 'content-length': body.length });
  response.write(body.subarray(0, body.length / 2), () => response.destroy());
  return 'taken';
};

import { readFile, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import type { ServedFile } from '../../../src/rules/self-hosted/open-document.ts';
import type { FetchFile } from './fetch-public.ts';
import { readBytes } from './read-bytes.ts';

// Where published files are read from: the host that serves them, or a directory, before it is uploaded.

export interface TreeSource {
  /** Undefined where there is no such file; throws where that could not be found out. */
  read(url: string): Promise<ServedFile | undefined>;
  manifestUrls: string[];
  /** The host that serves it; unknown for a directory. */
  host?: string;
}

const manifestPaths = ['.well-known/dedi.index.json', '.well-known/dedi.json'];
const maxFileBytes = 64 * 1024 * 1024;
const fetchTimeoutMs = 30_000;

export function openSource(place: string | URL, ask: FetchFile, signal?: AbortSignal): TreeSource {
  const text = String(place);
  return /^https?:\/\//.test(text) ? httpSource(new URL(text), ask, signal) : directorySource(text);
}

function httpSource({ origin, host }: URL, ask: FetchFile, signal?: AbortSignal): TreeSource {
  return {
    host,
    manifestUrls: manifestPaths.map((path) => `${origin}/${path}`),
    async read(url) {
      const timeout = AbortSignal.timeout(fetchTimeoutMs);
      const response = await ask(url, { signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
      if (response.status === 404 || response.status === 410) return undefined;
      if (!response.ok) throw new Error(`it answers ${response.status}`);
      // A Content-Encoding is taken off by fetch, or seen by the first bytes of the file.
      return { url, wire: await readBytes(response, maxFileBytes) };
    },
  };
}

function directorySource(path: string): TreeSource {
  const root = resolve(path);
  return {
    // Any base address will do: files are found by the end of their path.
    manifestUrls: manifestPaths.map((name) => `file:///${name}`),
    async read(url) {
      const file = await findFile(root, url);
      return file === undefined ? undefined : { url, wire: await readFile(file) };
    },
  };
}

/** Which part of the path is the base address of the tree is not known: the longest end of it that is there is taken. */
async function findFile(root: string, url: string): Promise<string | undefined> {
  const segments = new URL(url).pathname.split('/').slice(1).map(decodeURIComponent);
  for (const index of segments.keys()) {
    const file = join(root, ...segments.slice(index));
    if (relative(root, file).startsWith('..')) continue;
    const found = await stat(file).catch(() => undefined);
    if (found?.isFile()) return file;
  }
  return undefined;
}

import { manifestUrlsAt } from '../../../src/discovery/crawl/places.ts';
import { openDirectory } from '../../../src/discovery/inspect/tree-directory.ts';
import type { TreeSource as VerifiedSource } from '../../../src/discovery/inspect/verify-node.ts';
import type { ServedFile } from '../../../src/rules/self-hosted/open-document.ts';
import type { FetchFile } from './fetch-public.ts';
import { readBytes } from './read-bytes.ts';

// Where published files are read from: the host that serves them, or a directory, before it is uploaded.

export interface TreeSource extends VerifiedSource {
  /** Undefined where there is no such file; throws where that could not be found out. */
  read(url: string): Promise<ServedFile | undefined>;
}

const maxFileBytes = 64 * 1024 * 1024;
const fetchTimeoutMs = 30_000;

export async function openSource(
  place: string | URL,
  ask: FetchFile,
  signal?: AbortSignal,
): Promise<TreeSource> {
  const text = String(place);
  return /^https?:\/\//.test(text) ? httpSource(new URL(text), ask, signal) : directorySource(text);
}

function httpSource({ origin, host }: URL, ask: FetchFile, signal?: AbortSignal): TreeSource {
  return {
    host,
    manifestUrls: manifestUrlsAt(origin),
    indexUrls: [],
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

async function directorySource(path: string): Promise<TreeSource> {
  const { read, ...urls } = await openDirectory(path);
  return {
    ...urls,
    async read(url) {
      const wire = await read(url);
      return wire && { url, wire };
    },
  };
}

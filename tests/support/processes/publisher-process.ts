import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { privateKeyFromSeed, type SigningKey } from '../../../src/protocol/keys.ts';
import { endWithUs } from './child-process.ts';

// A publisher in a separate process, from the built files, that can be killed at any moment. It publishes without end.

/** The process needs its key as text. */
export const processSeed = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
export const processKey: SigningKey = {
  subscriberId: 'example.org',
  recordId: 'key-1',
  privateKey: privateKeyFromSeed(processSeed),
};

export interface PublisherProcess {
  /** The highest number whose publish was answered. */
  acknowledged(): number;
  /** kill -9 */
  kill(): Promise<void>;
  /** Stops the process until it is continued. */
  halt(): void;
  goOn(): void;
  /** Resolves when it has published the requested number of times. */
  ended: Promise<void>;
}

export interface PublisherWork {
  directory: string;
  baseUrl: string;
  /** Names the published resources: into `shared` by MERGE, and into a separate catalog as a whole. */
  name: string;
  first: number;
  count: number;
}

/** Resolves just before the first publish. */
export async function startPublisherProcess(work: PublisherWork): Promise<PublisherProcess> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script(work)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endWithUs(child);
  let last = work.first - 1;
  const ready = new Promise<void>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      if (line === 'ready') resolve();
      else last = Number(line);
    });
    child.once('exit', () => reject(new Error('the publisher ended before it began')));
  });
  const ended = once(child, 'exit').then(([code, signal]) => {
    if (code !== 0 && signal !== 'SIGKILL') throw new Error(`the publisher ended with ${code ?? signal}`);
  });
  await ready;
  return {
    acknowledged: () => last,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    halt: () => void child.kill('SIGSTOP'),
    goOn: () => void child.kill('SIGCONT'),
    ended,
  };
}

function script({ directory, baseUrl, name, first, count }: PublisherWork): string {
  const built = (file: string) => JSON.stringify(new URL(`../../../dist/${file}`, import.meta.url).href);
  return `
    import { privateKeyFromSeed } from ${built('protocol/keys.js')};
    import { publishCatalogs } from ${built('publisher/publish.js')};
    import { openPublisherTree } from ${built('publisher/tree.js')};
    const tree = openPublisherTree({
      directory: ${JSON.stringify(directory)},
      baseUrl: ${JSON.stringify(baseUrl)},
      nodeId: 'example.org',
      registryName: 'subscribers.beckn.one',
      key: { subscriberId: 'example.org', recordId: 'key-1', privateKey: privateKeyFromSeed('${processSeed}') },
      schemas: { checker: () => ({ check: () => [] }) },
      limits: { compactionChanges: 4 },
      logger: { warn() {}, error: console.error },
    });
    const catalog = (id, resources) => ({
      id,
      descriptor: { name: 'Crash' },
      provider: { id: 'p', descriptor: { name: 'P' } },
      resources,
    });
    const filler = Array.from({ length: 60 }, (_, i) => ({ id: 'filler-' + i, descriptor: { longDesc: 'x'.repeat(100) } }));
    console.log('ready');
    for (let n = ${first}; n < ${first + count}; n++) {
      const answer = await publishCatalogs(tree, {
        message: {
          catalogs: [
            catalog('shared', [{ id: '${name}-' + n }]),
            catalog('${name}', [...filler, { id: 'latest', descriptor: { name: String(n) } }]),
          ],
          publishDirectives: [{ catalogId: 'shared', catalogType: 'REGULAR', updateMode: 'MERGE' }],
        },
      });
      if (answer.results.some(({ status }) => status !== 'ACCEPTED')) throw new Error(JSON.stringify(answer));
      console.log(n);
    }
  `;
}

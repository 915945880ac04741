import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Config, readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import { startPublisherThread } from '../../src/publisher/thread.ts';
import { placesIn } from '../../src/publisher/tree.ts';
import { acquireFileLock } from '../../src/storage/file-lock.ts';
import { smallCatalog } from '../support/hosted/publisher.ts';
import { until } from '../support/time.ts';

let config: Config;
let thread: ReturnType<typeof startPublisherThread>;

beforeEach(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'signpost-thread-'));
  config = readConfig({ DATA_DIR: dataDir, LOG_LEVEL: 'silent' });
  thread = startPublisherThread(config, silentLogger(), { finishMs: 0 });
});
afterEach(async () => {
  await thread.close();
  await rm(config.DATA_DIR, { recursive: true });
});

function requestOf(resourceCount: number): Buffer {
  const names = Array.from({ length: resourceCount }, (_, index) => `r-${index}`);
  return Buffer.from(JSON.stringify({ message: { catalogs: [smallCatalog('coffee', names)] } }));
}

/** Whether any process, including this one, is writing into the tree. */
async function isLocked(): Promise<boolean> {
  try {
    const release = await acquireFileLock(placesIn(config.publisherDir).lockDirectory, 0);
    await release();
    return false;
  } catch {
    return true;
  }
}

describe('the thread of a publisher', () => {
  it('publishes, and tells what is refused as the error that it is', async () => {
    expect(await thread.publish(requestOf(1))).toMatchObject({ status: 'COMPLETED' });
    await expect(thread.publish(Buffer.from('{"message":{}}'))).rejects.toMatchObject({
      name: 'ProtocolError',
      code: 'SCH_REQUIRED_FIELD_MISSING',
      path: '$.message.catalogs',
      status: 400,
    });
  });

  it('says to its operator that the tree is damaged, not that the request is wrong', async () => {
    await thread.publish(requestOf(1));
    await writeFile(join(placesIn(config.publisherDir).root, 'index/catalogs.index.json'), '{');
    await expect(thread.publish(requestOf(2))).rejects.toMatchObject({
      status: 500,
      message: expect.stringContaining('Restore it from a copy'),
    });
  });

  it('says to its operator what is wrong with the disk', async () => {
    const { root } = placesIn(config.publisherDir);
    await mkdir(dirname(root), { recursive: true });
    await writeFile(root, 'a file, where the directory should be');
    await expect(thread.publish(requestOf(1))).rejects.toMatchObject({
      code: 'NET_INTERNAL_ERROR',
      message: expect.stringMatching(/^The published files cannot be read or written: ENOTDIR: /),
    });
  });

  it('ended in the midst of its work leaves the tree to the next one', async () => {
    await thread.publish(requestOf(1));
    const interrupted = expect(thread.publish(requestOf(100_000))).rejects.toThrow();
    await until(isLocked, 'the publish to begin');
    await thread.close();
    await interrupted;
    thread = startPublisherThread(config, silentLogger());
    expect(await thread.publish(requestOf(2))).toMatchObject({ results: [{ version: 2 }] });
  });
});

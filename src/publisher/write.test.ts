import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Place, replaceFile, writeContent } from './write.ts';

let directory: string;
let place: Place;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signpost-write-'));
  place = { root: join(directory, 'public'), draftsDirectory: join(directory, 'drafts') };
});
afterEach(() => rm(directory, { recursive: true }));

describe('writing a file', () => {
  it('leaves nothing of it behind when the disk is full half-way', async () => {
    await expect(writeContent(place, { path: 'a.json', bytes: endingEarly() })).rejects.toThrow('ENOSPC');
    await expect(replaceFile(place, 'b.json', endingEarly())).rejects.toThrow('ENOSPC');
    expect(await readdir(place.draftsDirectory)).toEqual([]);
  });

  it('never puts another content under a name', async () => {
    const write = (text: string) => writeContent(place, { path: 'a.json', bytes: Buffer.from(text) });
    await write('one');
    await write('one');
    await expect(write('two')).rejects.toThrow('exists with different content');
  });
});

/** Node also writes iterables, and stops if they throw, which simulates a full disk. */
function endingEarly(): Uint8Array {
  function* pieces() {
    yield Buffer.alloc(4096);
    throw new Error('ENOSPC');
  }
  return pieces() as unknown as Uint8Array;
}

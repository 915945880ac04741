import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import type { Database } from '../database.ts';
import { deleteOld } from '../work/retention.ts';
import { findDownload, pieceBytes, readDownload, writeDownload } from './downloads.ts';

let database: Database;

useDatabase((opened) => {
  database = opened;
});

const hour = 3_600_000;

/** Hardly compressible, so that it needs several pieces. */
async function* noise(count: number): AsyncGenerator<string> {
  for (let index = 0; index < count; index += 1) {
    yield Array.from({ length: 500 }, (_, line) =>
      createHash('sha256').update(`${index}/${line}`).digest('hex'),
    ).join('\n');
  }
}

const write = (text: AsyncIterable<string>, expiresAt: Date) =>
  database.transaction((tx) => writeDownload(tx, 'owner', text, () => expiresAt));

async function read(id: string, range: { start: number; end: number }): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of readDownload(database, id, range)) parts.push(part);
  return Buffer.concat(parts);
}

async function count(table: string): Promise<number> {
  const { rows } = await database.query<{ count: number }>(`select count(*) from catalog.${table}`);
  return rows[0]?.count ?? 0;
}

describe('a download', () => {
  it('is kept in pieces and read back whole and in parts', async () => {
    const { id, sizeBytes, checksum } = await write(noise(60), new Date(Date.now() + hour));
    expect(await findDownload(database, id)).toMatchObject({ id, sizeBytes, checksum });
    const whole = await read(id, { start: 0, end: sizeBytes - 1 });
    expect(whole.length).toBe(sizeBytes);
    expect(sizeBytes).toBeGreaterThan(2 * pieceBytes);
    expect(checksum).toBe(`sha256:${createHash('sha256').update(whole).digest('hex')}`);
    let text = '';
    for await (const part of noise(60)) text += part;
    expect(gunzipSync(whole).toString('utf8')).toBe(text);
    for (const [start, end] of [
      [0, 0],
      [pieceBytes - 1, pieceBytes],
      [pieceBytes, 2 * pieceBytes - 1],
      [sizeBytes - 1, sizeBytes - 1],
    ] as const) {
      expect(whole.subarray(start, end + 1).equals(await read(id, { start, end }))).toBe(true);
    }
  });

  it('leaves nothing behind when its source breaks', async () => {
    const [downloads, pieces] = [await count('download'), await count('download_piece')];
    async function* broken() {
      yield* noise(40);
      throw new Error('the source broke');
    }
    await expect(write(broken(), new Date())).rejects.toThrow('the source broke');
    expect([await count('download'), await count('download_piece')]).toEqual([downloads, pieces]);
  });

  it('is removed with its pieces a while after it has expired, and not before', async () => {
    await database.query('truncate catalog.download cascade');
    const now = new Date();
    await write(noise(30), new Date(now.getTime() - hour));
    const justExpired = await write(noise(1), new Date(now.getTime() - 1_000));
    const current = await write(noise(1), new Date(now.getTime() + hour));
    expect(await deleteOld(database, 'downloads', now)).toBe(1);
    const { rows } = await database.query<{ id: string }>(
      'select distinct download_id as id from catalog.download_piece',
    );
    expect(rows.map(({ id }) => id).sort()).toEqual([justExpired.id, current.id].sort());
  });
});

import { createHash, randomUUID } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Queryable, Transaction } from '../database.ts';
import { assign, newRow, sql } from '../sql.ts';

// Downloads are stored in the database, in pieces, so that any process can serve them and none holds one in memory. A download appears with the
// commit of the transaction that writes it: a process that crashes before that leaves nothing behind.

/** Size of every piece except the last: the position of a byte follows from it. */
export const pieceBytes = 256 * 1024;

export interface Download {
  id: string;
  expiresAt: Date;
  sizeBytes: number;
  /** `sha256:` and the hex digest of the compressed bytes. */
  checksum: string;
}

/** Compresses a text into a new download, in the transaction that reads the text: the database continues to read meanwhile. */
export async function writeDownload(
  tx: Transaction,
  owner: string,
  text: AsyncIterable<string>,
  expiresAt: () => Date,
): Promise<Download> {
  const id = randomUUID();
  await tx.query(sql`insert into catalog.download (id, owner, expires_at, size_bytes, checksum)
    values (${id}, ${owner}, 'infinity', 0, '')`);

  const hash = createHash('sha256');
  let [sizeBytes, position] = [0, 0];
  await pipeline(text, createGzip(), async (compressed: AsyncIterable<Buffer>) => {
    for await (const bytes of inPieces(compressed)) {
      hash.update(bytes);
      sizeBytes += bytes.length;
      await tx.query(sql`insert into catalog.download_piece ${newRow({ downloadId: id, position, bytes })}`);
      position += 1;
    }
  });
  const facts = { expiresAt: expiresAt(), sizeBytes, checksum: `sha256:${hash.digest('hex')}` };
  await tx.query(sql`update catalog.download set ${assign(facts)} where id = ${id}`);
  return { id, ...facts };
}

async function* inPieces(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let left: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    left.push(chunk);
    length += chunk.length;
    if (length < pieceBytes) continue;
    const whole = Buffer.concat(left);
    const rest = whole.length % pieceBytes;
    for (let start = 0; start < whole.length - rest; start += pieceBytes)
      yield whole.subarray(start, start + pieceBytes);
    left = [whole.subarray(whole.length - rest)];
    length = rest;
  }
  if (length > 0) yield Buffer.concat(left);
}

export function sumDownloads(queryable: Queryable, owner: string) {
  return queryable.value<number>(sql`select coalesce(sum(size_bytes), 0)::float8 as bytes
    from catalog.download where owner = ${owner}`);
}

export function findDownload(queryable: Queryable, id: string) {
  return queryable.first<Download>(sql`
    select id, expires_at as "expiresAt", size_bytes as "sizeBytes", checksum from catalog.download where id = ${id}`);
}

/** The bytes from `start` to `end`, both included, piece by piece. No connection is held while the reader is slow. */
export async function* readDownload(
  queryable: Queryable,
  id: string,
  { start, end }: { start: number; end: number },
): AsyncGenerator<Buffer> {
  for (let from = start; from <= end; ) {
    const position = Math.floor(from / pieceBytes);
    const first = from - position * pieceBytes;
    const length = Math.min(pieceBytes - first, end - from + 1);
    const bytes = await queryable.value<Buffer | undefined>(sql`
      select substring(bytes from ${first + 1}::integer for ${length}::integer) from catalog.download_piece
      where download_id = ${id} and position = ${position}`);
    if (bytes?.length !== length) throw new Error(`download ${id} has lost bytes at ${from}`);
    yield bytes;
    from += length;
  }
}

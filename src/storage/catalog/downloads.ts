import { randomUUID } from 'node:crypto';
import type { Queryable, Transaction } from '../database.ts';
import { deleteBefore } from '../delete-in-batches.ts';
import { createGzipPieces } from './gzip-pieces.ts';

// Downloads live in the database, in pieces, so that any process can serve them and none holds one in memory. A download appears with the
// commit of the transaction that writes it: whoever crashes before that leaves nothing behind.

/** Every piece has this size, except the last: the place of a byte follows from it. */
export const pieceBytes = 256 * 1024;
/** Whoever began in time may finish. */
const grace = "interval '15 minutes'";
const purgeBatch = 20;

export interface Download {
  id: string;
  expiresAt: Date;
  sizeBytes: number;
  /** `sha256:` and the hex digest of the compressed bytes. */
  checksum: string;
}

/** Compresses a text into a new download, in the transaction that reads the text: the database reads on while the last text is compressed. */
export async function writeDownload(
  tx: Transaction,
  owner: string,
  text: AsyncIterable<string>,
  expiresAt: () => Date,
): Promise<Download> {
  const id = randomUUID();
  await tx.query(
    `insert into catalog.download (id, owner, expires_at, size_bytes, checksum) values ($1, $2, 'infinity', 0, '')`,
    [id, owner],
  );

  const gzip = createGzipPieces(pieceBytes);
  let position = 0;
  const store = async () => {
    for (const bytes of gzip.take()) {
      await tx.query(
        'insert into catalog.download_piece (download_id, position, bytes) values ($1, $2, $3)',
        [id, position, bytes],
      );
      position += 1;
    }
  };
  const source = text[Symbol.asyncIterator]();
  for (let read = await source.next(); !read.done; ) {
    await store();
    const next = source.next();
    const [result] = await Promise.all([next, gzip.write(read.value)]);
    read = result;
  }
  await gzip.finish();
  await store();

  const download = {
    id,
    expiresAt: expiresAt(),
    sizeBytes: gzip.sizeBytes(),
    checksum: `sha256:${gzip.sha256()}`,
  };
  await tx.query(
    'update catalog.download set expires_at = $2, size_bytes = $3, checksum = $4 where id = $1',
    [id, download.expiresAt, download.sizeBytes, download.checksum],
  );
  return download;
}

/** The bytes of all downloads of an owner that are kept. */
export function sumDownloads(queryable: Queryable, owner: string) {
  return queryable.value<number>(
    'select coalesce(sum(size_bytes), 0)::float8 as bytes from catalog.download where owner = $1',
    [owner],
  );
}

export function findDownload(queryable: Queryable, id: string) {
  return queryable.first<Download>(
    `select id, expires_at as "expiresAt", size_bytes as "sizeBytes", checksum from catalog.download where id = $1`,
    [id],
  );
}

/** The bytes from `start` to `end`, both included, piece by piece. No connection is held while the reader takes its time. */
export async function* readDownload(
  queryable: Queryable,
  id: string,
  { start, end }: { start: number; end: number },
): AsyncGenerator<Buffer> {
  for (let from = start; from <= end; ) {
    const position = Math.floor(from / pieceBytes);
    const first = from - position * pieceBytes;
    const length = Math.min(pieceBytes - first, end - from + 1);
    const { rows } = await queryable.query<{ bytes: Buffer }>(
      `select substring(bytes from $3 for $4) as bytes from catalog.download_piece
       where download_id = $1 and position = $2`,
      [id, position, first + 1, length],
    );
    if (rows[0]?.bytes.length !== length) throw new Error(`download ${id} has lost bytes at ${from}`);
    yield rows[0].bytes;
    from += length;
  }
}

/** Removes what nobody may fetch any more; returns how many downloads that were. */
export const purgeDownloads = deleteBefore(
  `delete from catalog.download where id in (
       select id from catalog.download where expires_at < $1::timestamptz - ${grace} limit $2 for update skip locked
     )`,
  purgeBatch,
);

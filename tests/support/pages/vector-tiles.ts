// The smallest possible PMTiles file of vector tiles: a single tile, used for every place at every zoom.

const maxZoom = 12;
const extent = 4_096;

/** Water in the western half of each tile, land in the eastern one. */
export function writeTiles(): { file: Buffer; tilesAt: number } {
  const tile = [
    ...layer('water', 'ocean', [0, extent / 2]),
    ...layer('earth', 'earth', [extent / 2, extent]),
  ];
  // PMTiles 3: one entry whose run covers all tiles, then length and offset of its tile.
  const tileCount = (4 ** (maxZoom + 1) - 1) / 3;
  const directory = [1, 0, tileCount, tile.length, 1].flatMap(varint);
  const metadata = [...Buffer.from('{}')];
  const header = writeHeader([directory.length, metadata.length, 0, tile.length]);
  const file = Buffer.concat([header, Buffer.from([...directory, ...metadata, ...tile])]);
  return { file, tilesAt: file.length - tile.length };
}

/** A layer with one polygon from top to bottom (vector tile specification 2.1, with its field numbers). */
function layer(name: string, kind: string, [west, east]: [number, number]): number[] {
  const feature = [...bytes(2, [0, 0]), ...number(3, 3), ...bytes(4, polygon(west, east).flatMap(varint))];
  const parts = [
    ...[number(15, 2), bytes(1, [...Buffer.from(name)]), bytes(2, feature)],
    ...[bytes(3, [...Buffer.from('kind')]), bytes(4, bytes(1, [...Buffer.from(kind)])), number(5, extent)],
  ];
  return bytes(3, parts.flat());
}

/** MoveTo, three LineTo, ClosePath, each relative to the previous point. */
function polygon(west: number, east: number): number[] {
  const signed = (value: number) => (value << 1) ^ (value >> 31);
  const width = east - west;
  return [9, signed(west), 0, 26, signed(width), 0, 0, signed(extent), signed(-width), 0, 15];
}

// The two protobuf field types that are needed.
const number = (field: number, value: number): number[] => [...varint(field * 8), ...varint(value)];
const bytes = (field: number, content: number[]): number[] => [
  ...varint(field * 8 + 2),
  ...varint(content.length),
  ...content,
];

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

/** @param lengths of directory, metadata, leaf directories and tiles, in this order */
function writeHeader(lengths: readonly number[]): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.write('PMTiles');
  header.writeUInt8(3, 7);
  let offset = headerBytes;
  for (const [index, length] of lengths.entries()) {
    header.writeBigUInt64LE(BigInt(offset), 8 + 16 * index);
    header.writeBigUInt64LE(BigInt(length), 16 + 16 * index);
    offset += length;
  }
  const [uncompressed, vector] = [1, 1];
  for (const [index, value] of [1, uncompressed, uncompressed, vector, 0, maxZoom].entries())
    header.writeUInt8(value, 96 + index);
  for (const [index, degrees] of [-180, -85, 180, 85].entries())
    header.writeInt32LE(degrees * 1e7, 102 + 4 * index);
  return header;
}

const headerBytes = 127;

import type { Json, JsonObject } from '../protocol/json.ts';
import { createJsonInput, type JsonInput, notJson } from './json-input.ts';

// Reads catalogs from JSON of any length: only one member, resource or offer at a time is in memory, and read as strictly as a request.

export type CatalogPart =
  | { kind: 'catalog' }
  | { kind: 'member'; name: string; value: Json }
  | { kind: 'resources' | 'offers'; value: Json; bytes: number }
  | { kind: 'end' };

interface SplitOptions {
  /** The path to the list of catalogs: `catalogs` of a download, `message` and `catalogs` of an answer. */
  path: readonly string[];
  /** Whether resources and offers are read; otherwise they are skipped. */
  items: boolean;
  maxValueBytes?: number;
}

const defaultMaxValueBytes = 16 * 1024 * 1024;

/** Throws a ProtocolError if the document is not the expected JSON. */
export async function* splitCatalogs(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { path, items, maxValueBytes = defaultMaxValueBytes }: SplitOptions,
): AsyncGenerator<CatalogPart> {
  const input = createJsonInput(chunks, maxValueBytes);
  yield* readPath(path);
  if ((await input.next()) !== undefined) throw notJson('there is something after its end');

  async function* readPath([name, ...rest]: readonly string[]): Parts {
    if (name === undefined) return yield* readCatalogs();
    let found = 0;
    yield* readObject(input, async function* (member) {
      if (member !== name) return void (await input.skipValue());
      found += 1;
      yield* readPath(rest);
    });
    if (found !== 1) throw notJson(`it has ${found === 0 ? 'no' : 'more than one'} ${name}`);
  }

  async function* readCatalogs(): Parts {
    yield* readArray(input, async function* () {
      yield { kind: 'catalog' };
      const names = new Set<string>();
      yield* readObject(input, (name) => {
        if (names.has(name)) throw notJson(`a catalog has the member ${JSON.stringify(name)} twice`);
        names.add(name);
        return readMember(name);
      });
      yield { kind: 'end' };
    });
  }

  async function* readMember(name: string): Parts {
    if (name !== 'resources' && name !== 'offers') {
      yield { kind: 'member', name, value: await input.readValue() };
      return;
    }
    if (!items) return void (await input.skipValue());
    yield* readArray(input, async function* () {
      const { value, bytes } = await input.readMeasured();
      yield { kind: name, value, bytes };
    });
  }
}

/** The members of each catalog, without its resources and offers. */
export async function readHeads(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  path: readonly string[],
): Promise<JsonObject[]> {
  const heads: [string, Json][][] = [];
  for await (const part of splitCatalogs(chunks, { path, items: false })) {
    if (part.kind === 'catalog') heads.push([]);
    if (part.kind === 'member') heads.at(-1)?.push([part.name, part.value]);
  }
  return heads.map((members) => Object.fromEntries(members));
}

type Parts = AsyncGenerator<CatalogPart>;

async function* readObject(input: JsonInput, readMember: (name: string) => Parts): Parts {
  await input.expect('{');
  if (await input.take('}')) return;
  do {
    const name = await input.readValue();
    if (typeof name !== 'string') throw notJson('a member of an object has no name');
    await input.expect(':');
    yield* readMember(name);
  } while (await input.take(','));
  await input.expect('}');
}

async function* readArray(input: JsonInput, readItem: () => Parts): Parts {
  await input.expect('[');
  if (await input.take(']')) return;
  do yield* readItem();
  while (await input.take(','));
  await input.expect(']');
}

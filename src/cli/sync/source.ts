import { readFile, stat } from 'node:fs/promises';
import { createConfiguredClient, type GuardedClient } from '../../http/guarded-client.ts';
import { type CommandContext, CommandError } from '../command.ts';
import { type ListSource, type Reading, readList, readLocations } from '../import/sources.ts';
import { readInput } from '../read-input.ts';
import { createOcpiReader, OcpiFailure } from './ocpi-endpoint.ts';

// What a sync reads, again and again: a file, a document at an address, or an OCPI endpoint.

export interface SyncSource extends ListSource {
  /** File with the token of an OCPI endpoint. */
  tokenFile?: string;
}

export interface OpenSource {
  /** Undefined: it has not changed since the last time. */
  read(): Promise<Reading | undefined>;
  close(): Promise<void>;
}

export function openSource(source: SyncSource, context: CommandContext): OpenSource {
  const { kind, file, tokenFile } = source;
  if (!isAddress(file)) return { read: readChanged(source, openFile, context), close: async () => {} };
  const client = createConfiguredClient(context.config());
  const close = () => client.close();
  if (kind !== 'ocpi') return { read: readChanged(source, openAddress(client), context), close };
  let reader: ReturnType<typeof createOcpiReader> | undefined;
  const read = async () => {
    try {
      const token =
        tokenFile === undefined ? undefined : (await readInput(tokenFile, context)).toString().trim();
      reader ??= createOcpiReader({ url: file, token, client });
      const { locations, tariffs, isChanged } = await reader.read();
      return isChanged ? readLocations(locations, tariffs, file) : undefined;
    } catch (error) {
      if (error instanceof OcpiFailure)
        throw new CommandError(`${file} cannot be read: ${error.message}`, error);
      throw error;
    }
  };
  return { read, close };
}

function isAddress(file: string): boolean {
  return /^https?:\/\//.test(file);
}

/** The bytes, and what tells whether they are the same the next time; no bytes where they are the same as the last time. */
type Open = (file: string, before: string | undefined) => Promise<{ bytes?: Buffer; mark?: string }>;

/** Reads all files of a source when one of them has changed. */
function readChanged(source: ListSource, open: Open, context: CommandContext): OpenSource['read'] {
  const known = new Map<string, { bytes: Buffer; mark?: string }>();
  return async () => {
    let isChanged = false;
    for (const file of [source.file, source.tariffs, source.status].filter((one) => one !== undefined)) {
      const before = known.get(file);
      const { bytes, mark } =
        file === '-' ? { bytes: await readInput(file, context) } : await open(file, before?.mark);
      if (bytes === undefined || before?.bytes.equals(bytes)) continue;
      known.set(file, { bytes, ...(mark !== undefined && { mark }) });
      isChanged = true;
    }
    if (!isChanged) return undefined;
    return readList(source, context, async (file) => known.get(file)?.bytes ?? Buffer.of());
  };
}

const openFile: Open = async (file, before) => {
  try {
    const { mtimeMs, size } = await stat(file);
    const mark = `${mtimeMs} ${size}`;
    return mark === before ? {} : { bytes: await readFile(file), mark };
  } catch (error) {
    throw new CommandError(
      `${file} cannot be read: ${error instanceof Error ? error.message : error}.`,
      error,
    );
  }
};

function openAddress(client: GuardedClient): Open {
  return async (url, before) => {
    const headers: Record<string, string> = before === undefined ? {} : { 'if-none-match': before };
    const options = { headers, timeoutMs, maxBytes, operatorConfigured: true };
    const answer = await client.request(url, options).catch((error: unknown) => {
      throw new CommandError(
        `${url} cannot be read: ${error instanceof Error ? error.message : error}.`,
        error,
      );
    });
    if (answer.status === 304) return {};
    if (answer.status !== 200) throw new CommandError(`${url} cannot be read: it answered ${answer.status}.`);
    return { bytes: answer.body, mark: answer.headers.etag };
  };
}

const timeoutMs = 60_000;
/** As large as the largest register of a country. */
const maxBytes = 512 * 1024 * 1024;

import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createConfiguredClient, type GuardedClient } from '../../http/guarded-client.ts';
import { programVersion } from '../../program-version.ts';
import { type CommandContext, CommandError, explainError, reasonOf } from '../command.ts';
import { type ListSource, type Reading, readList, readLocations } from '../import/sources.ts';
import { readInput } from '../read-input.ts';
import { createOcpiReader, OcpiFailure } from './ocpi-endpoint.ts';

// The sources of a sync, read in every round: a file, a document at an address, or an OCPI endpoint.

export interface SyncSource extends ListSource {
  tokenFile?: string;
}

interface OpenSource {
  /** Undefined: it has not changed since the last time. */
  read(): Promise<MarkedReading | undefined>;
  close(): Promise<void>;
}

export interface MarkedReading extends Reading {
  /** Equal for equal files and mapping. Absent for an endpoint, whose answers are not files. */
  mark?: string;
}

/** A source with this mark has not changed since all of it was published. */
interface PublishedMark {
  mark?: string;
  salt: string;
  stations: readonly string[];
}

export function openSource(source: SyncSource, known: PublishedMark, context: CommandContext): OpenSource {
  const { kind, file, tokenFile } = source;
  if (!isAddress(file)) return { read: readChanged(source, openFile, known, context), close: async () => {} };
  const client = createConfiguredClient(context.config());
  const close = () => client.close();
  if (kind !== 'ocpi') return { read: readChanged(source, openAddress(client), known, context), close };
  let reader: ReturnType<typeof createOcpiReader> | undefined;
  const read = async () => {
    const token =
      tokenFile === undefined ? undefined : (await readInput(tokenFile, context)).toString().trim();
    reader ??= createOcpiReader({ url: file, token, client, known: known.stations });
    const { locations, tariffs, isChanged } = await reader
      .read()
      .catch(explainError(OcpiFailure, ({ message }) => `${file} cannot be read: ${message}`));
    return isChanged ? readLocations(locations, tariffs) : undefined;
  };
  return { read, close };
}

function isAddress(file: string): boolean {
  return /^https?:\/\//.test(file);
}

/** Returns the bytes and a mark to recognise changes; no bytes if unchanged. */
type Open = (file: string, before: string | undefined) => Promise<{ bytes?: Buffer; mark?: string }>;

function readChanged(source: ListSource, open: Open, published: PublishedMark, context: CommandContext) {
  const known = new Map<string, { bytes?: Buffer; digest: string; mark?: string }>();
  let last = published.mark;
  return async () => {
    const fresh = new Map<string, Buffer>();
    for (const file of [source.file, source.tariffs, source.status].filter((one) => one !== undefined)) {
      const { bytes, mark } =
        file === '-' ? { bytes: await readInput(file, context) } : await open(file, known.get(file)?.mark);
      if (bytes === undefined) continue;
      fresh.set(file, bytes);
      const digest = createHash('sha256').update(bytes).digest('base64url');
      // A file can be read again, but an unchanged document at an address is not sent again.
      known.set(file, { digest, mark, ...((isAddress(file) || file === '-') && { bytes }) });
    }
    const mark = await markOf(source, [published.salt, ...[...known.values()].map(({ digest }) => digest)]);
    if (mark === last) return undefined;
    const openKnown = async (file: string) => fresh.get(file) ?? known.get(file)?.bytes ?? readFile(file);
    const reading = await readList(source, context, openKnown);
    last = mark;
    return { ...reading, mark };
  };
}

/** Another version of the program may make something else of the same files. */
async function markOf({ mapping }: ListSource, parts: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(programVersion()).update(JSON.stringify(parts));
  if (mapping !== undefined) hash.update(await readFile(mapping).catch(() => mapping));
  return hash.digest('base64url');
}

const openFile: Open = async (file, before) => {
  try {
    const { mtimeMs, size } = await stat(file);
    const mark = `${mtimeMs} ${size}`;
    return mark === before ? {} : { bytes: await readFile(file), mark };
  } catch (error) {
    throw unreadable(file, error);
  }
};

function openAddress(client: GuardedClient): Open {
  return async (url, before) => {
    const headers: Record<string, string> = before === undefined ? {} : { 'if-none-match': before };
    const options = { headers, timeoutMs, maxBytes, operatorConfigured: true };
    const answer = await client.request(url, options).catch((error: unknown) => {
      throw unreadable(url, error);
    });
    if (answer.status === 304) return {};
    if (answer.status !== 200) throw new CommandError(`${url} cannot be read: it answered ${answer.status}.`);
    return { bytes: answer.body, mark: answer.headers.etag };
  };
}

function unreadable(file: string, error: unknown): CommandError {
  return new CommandError(`${file} cannot be read: ${reasonOf(error)}.`, error);
}

const timeoutMs = 60_000;
/** The size of the largest national register. */
const maxBytes = 512 * 1024 * 1024;

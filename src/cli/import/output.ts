import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Catalog } from '../../protocol/catalog.ts';
import type { PublishMessage } from '../../protocol/publish-messages.ts';
import { CommandError } from '../command.ts';

// The result of an import: one publish body, a catalog a line. However large it is, it is never one text in memory.

/** Each catalog is the whole of it (FULL), so that what a list no longer has goes away with the next publish. */
export function buildPublishMessage(catalogs: Catalog[], networks: string[] = []): PublishMessage {
  const publishDirectives = catalogs.map(({ id: catalogId }) => ({
    catalogId,
    catalogType: 'REGULAR' as const,
    updateMode: 'FULL' as const,
    ...(networks.length > 0 && { visibleTo: networks }),
  }));
  return { catalogs, publishDirectives };
}

export function* renderPublishBody({ catalogs, publishDirectives = [] }: PublishMessage): Generator<string> {
  yield '{"context":{"action":"catalog/publish"},"message":{"catalogs":[';
  yield* renderItems(catalogs);
  yield '],"publishDirectives":[';
  yield* renderItems(publishDirectives);
  yield ']}}';
}

function* renderItems(items: readonly object[]): Generator<string> {
  for (const [index, item] of items.entries())
    yield JSON.stringify(item) + (index < items.length - 1 ? ',' : '');
}

/** Under another name until it is complete: whoever publishes the file never meets half of it. */
export async function writeLines(file: string, lines: Iterable<string>): Promise<void> {
  const draft = `${file}.${process.pid}.part`;
  try {
    await pipeline(endLines(lines), createWriteStream(draft));
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${file} cannot be written: ${reason}.`, error);
  }
}

function* endLines(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`;
}

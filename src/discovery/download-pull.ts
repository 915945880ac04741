import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { FetchFailure } from '../http/fetch-failure.ts';
import { inflateStream } from '../http/inflate.ts';
import { openNamelessFile } from '../http/spooled-body.ts';
import type { DownloadManifest } from '../protocol/pull-messages.ts';
import { parseInstant } from '../protocol/time.ts';
import { originOf } from '../rules/base-address.ts';
import { StepFailed } from './ask-service.ts';
import type { DiscoveryContext } from './context.ts';

// Fetches the result of a pull (catalog spec: POST /catalog/on_pull, Download rules):
//
//   not after expiresAt   an expired one is not fetched, and the pull is issued again
//   checksum first        the bytes go into a file, which is not read before its sha256 matches the manifest
//   then decompressed     as a stream, so that little of it is in memory

const maxDownloadBytes = 4 * 1024 ** 3;
const maxInflatedBytes = 64 * 1024 ** 3;
const maxDownloadMs = 30 * 60_000;

export async function downloadPull(
  context: DiscoveryContext,
  manifest: DownloadManifest,
  { catalogUrl, signal }: { catalogUrl: string; signal: AbortSignal },
) {
  const leftMs = (parseInstant(manifest.expiresAt)?.getTime() ?? 0) - context.now().getTime();
  if (leftMs <= 0)
    throw new StepFailed(`the download expired at ${manifest.expiresAt}; the pull is issued again`);
  const file = await openNamelessFile();
  try {
    const timeoutMs = Math.min(leftMs, maxDownloadMs);
    const checksum = await fetchInto(context, file, manifest.url, { catalogUrl, timeoutMs, signal });
    if (manifest.checksum.toLowerCase() !== checksum)
      throw new StepFailed('the download does not have the checksum of its manifest, and is ignored');
  } catch (error) {
    await file.close();
    throw error;
  }
  const whole = { start: 0, autoClose: false, highWaterMark: 256 * 1024 };
  return {
    /** The JSON from its start; may be read several times. */
    read: () => inflateStream(file.createReadStream(whole), maxInflatedBytes, manifest.url),
    close: () => file.close(),
  };
}

/** Returns the checksum of the received bytes. Their number does not matter: the checksum covers every byte. */
async function fetchInto(
  { client }: DiscoveryContext,
  file: FileHandle,
  url: string,
  { catalogUrl, timeoutMs, signal }: { catalogUrl: string; timeoutMs: number; signal: AbortSignal },
): Promise<string> {
  try {
    const answer = await client.stream(url, {
      timeoutMs,
      maxBytes: maxDownloadBytes,
      operatorConfigured: originOf(url) === originOf(catalogUrl),
      signal,
    });
    if (answer.status !== 200) {
      answer.body.destroy();
      throw new StepFailed(`the download was answered with ${answer.status}; the pull is issued again`);
    }
    const sha256 = createHash('sha256');
    for await (const chunk of answer.body) {
      sha256.update(chunk);
      await file.writeFile(chunk);
    }
    return `sha256:${sha256.digest('hex')}`;
  } catch (error) {
    if (error instanceof FetchFailure && error.kind !== 'aborted')
      throw new StepFailed(error.message, { cause: error });
    throw error;
  }
}

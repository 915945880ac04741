import { basename, join } from 'node:path';
import { manifestPaths } from '../protocol/endpoints.ts';
import { parseJson } from '../protocol/json.ts';
import {
  type ManifestOutline,
  parseManifest,
  parseSubscriberRecords,
} from '../protocol/read-signed-files.ts';
import { isRecordPath } from './manifest.ts';
import { indexNameOf } from './paths.ts';
import { readFile } from './read-file.ts';

// Manifest and Subscriber record as published.

export interface PublishedManifest {
  bytes: Buffer;
  manifest: ManifestOutline;
}

/** Undefined if it is missing or unreadable. */
export async function findManifest(root: string): Promise<PublishedManifest | undefined> {
  try {
    const bytes = await readFile(join(root, manifestPaths[0]));
    return { bytes, manifest: parseManifest(parseJson(bytes)) };
  } catch {
    return undefined;
  }
}

/** The names of the indexes in the published Subscriber record; empty if it is unreadable. */
export async function findListedIndexNames(root: string): Promise<string[]> {
  const files = (await findManifest(root))?.manifest.files ?? [];
  const record = files.map(({ url }) => nameIn(url)).find(isRecordPath);
  if (record === undefined) return [];
  try {
    const records = parseSubscriberRecords(parseJson(await readFile(join(root, record))));
    const urls = records.flatMap(({ catalogIndexUrls }) => catalogIndexUrls);
    return urls.map((url) => indexNameOf(nameIn(url))).filter((name) => name !== undefined);
  } catch {
    return [];
  }
}

/** Works for any base address. */
function nameIn(url = ''): string {
  return URL.canParse(url) ? basename(new URL(url).pathname) : '';
}

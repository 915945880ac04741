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

// Manifest and Subscriber record as they are published.

export interface PublishedManifest {
  bytes: Buffer;
  manifest: ManifestOutline;
}

/** Undefined where there is none, or none that can be read. */
export async function findManifest(root: string): Promise<PublishedManifest | undefined> {
  try {
    const bytes = await readFile(join(root, manifestPaths[0]));
    return { bytes, manifest: parseManifest(parseJson(bytes)) };
  } catch {
    return undefined;
  }
}

/** The names of the indexes that the published Subscriber record lists; none where it cannot be read. */
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

/** Whatever the base address was. */
function nameIn(url = ''): string {
  return URL.canParse(url) ? basename(new URL(url).pathname) : '';
}

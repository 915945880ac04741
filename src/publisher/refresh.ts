import { readIndexes } from './indexes.ts';
import { isDue, renewManifest } from './keep-manifest.ts';
import type { Publisher } from './publisher.ts';
import { refreshIndexes } from './renew-indexes.ts';

// Index, manifest and Subscriber record each announce when their next update is expected (self-hosted spec: Catalog index, next_update). Also
// where nothing changes they are written anew before that, so that readers can tell a quiet publisher from a dead one.

/** Writes everything anew that announces its next update. Returns when that is. */
export async function refresh({ tree, url }: Publisher): Promise<Date> {
  await refreshIndexes(tree);
  return renewManifest(tree, { url, always: true });
}

/** The same where half of the announced time is over. What the manifest says is brought up to date in any case. */
export async function refreshDue(publisher: Publisher): Promise<Date> {
  const { tree, url } = publisher;
  const indexes = [...(await readIndexes(tree)).values()];
  const announced = [
    await renewManifest(tree, { url }),
    ...indexes.map(({ nextUpdate }) => new Date(nextUpdate)),
  ];
  const first = new Date(Math.min(...announced.map((time) => time.getTime())));
  return isDue(first, tree) ? refresh(publisher) : first;
}

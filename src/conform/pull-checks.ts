import { randomUUID } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { actions } from '../protocol/actions.ts';
import { sha256Digest } from '../protocol/digest.ts';
import { type Json, parseIfJson } from '../protocol/json.ts';
import { DownloadManifest } from '../protocol/pull-messages.ts';
import { Pagination } from '../protocol/shapes.ts';
import { ask, callbackChecks, requireCallback } from './callback.ts';
import type { CatalogScene } from './catalog-scene.ts';
import { type Check, CheckFailed, CheckSkipped } from './check.ts';
import { at, expectAck, expectEqual, expectShape, expectStatus, expectThat, listAt, show } from './expect.ts';
import { refusal } from './request-checks.ts';
import { another } from './subscription-checks.ts';

type CatalogCheck = Check<CatalogScene>;

const pulling = 'Catalog spec: POST /catalog/pull';
const answering = 'Catalog spec: POST /catalog/on_pull';

export const pullChecks: readonly CatalogCheck[] = [
  refusal('pull-incremental', pulling, 'mode is INCREMENTAL', 'NET_NOT_IMPLEMENTED', async (scene) =>
    scene.self.send(actions.pull, {
      message: { subscriptionId: await scene.subscriptionId(), mode: 'INCREMENTAL' },
    }),
  ),
  refusal('pull-invalid-subscription', pulling, 'subscriptionId is no UUID', 400, ({ self }) =>
    self.send(actions.pull, { message: { subscriptionId: 'none' } }),
  ),
  refusal('pull-unknown-subscription', pulling, 'there is no such subscription', 404, ({ self }) =>
    self.send(actions.pull, { message: { subscriptionId: randomUUID() } }),
  ),
  refusal('pull-own-only', pulling, 'the subscription is that of another caller', 403, async (scene) =>
    another(scene).send(actions.pull, { message: { subscriptionId: await scene.subscriptionId() } }),
  ),
  refusal('pull-limit', 'Catalog spec: Limits', 'limit is 101', 400, async (scene) =>
    scene.self.send(actions.pull, {
      message: { subscriptionId: await scene.subscriptionId(), limit: 101 },
    }),
  ),
  {
    name: 'pull-dates-ignored',
    clause: `${pulling}, fromDate and toDate are ignored`,
    expects: '200 for a FULL pull, whatever fromDate and toDate are',
    async run(scene) {
      const subscriptionId = await scene.subscriptionId();
      const dates = { fromDate: '2001-01-01T00:00:00Z', toDate: '2001-01-02T00:00:00Z' };
      expectStatus(
        await scene.self.send(actions.pull, { message: { subscriptionId, limit: 1, ...dates } }),
        200,
      );
    },
  },
  {
    name: 'pull-acknowledged',
    clause: pulling,
    expects: '200 with status ACK and the messageId of the request, and nothing beside message',
    run: async ({ pulled }) => expectAck((await pulled()).answer),
  },
  ...callbackChecks<CatalogScene>('pull', answering, ({ pulled }) => pulled()),
  {
    name: 'on-pull-status',
    clause: answering,
    expects: 'status COMPLETED, or FAILED with the messageId of the pull and an error, and without catalogs',
    async run(scene) {
      const message = await messageOf(scene);
      const status = at(message, 'status');
      expectThat(status === 'COMPLETED' || status === 'FAILED', `status is ${show(status)}`);
      if (status === 'COMPLETED') return;
      const isBare = at(message, 'catalogs') === undefined && at(message, 'downloadManifest') === undefined;
      expectThat(isBare && at(message, 'error', 'code') !== undefined, `message is ${show(message)}`);
      expectEqual(at(message, 'messageId'), (await scene.pulled()).answer.messageId, 'message.messageId');
    },
  },
  {
    name: 'on-pull-one-form',
    clause: `${answering}, exactly one of catalogs or downloadManifest`,
    expects: 'either catalogs or downloadManifest, never both',
    async run(scene) {
      const message = await requireCompleted(scene);
      const forms = ['catalogs', 'downloadManifest'].filter((member) => at(message, member) !== undefined);
      expectEqual(forms.length, 1, `the number of forms in ${show(Object.keys(message as object))}`);
    },
  },
  {
    name: 'on-pull-pagination',
    clause: answering,
    expects: 'pagination with total, and limit and offset of the request',
    async run(scene) {
      const pagination = at(await requireCompleted(scene), 'pagination') ?? null;
      expectShape(Pagination, pagination, 'message.pagination');
      expectEqual(at(pagination, 'limit'), 100, 'pagination.limit');
      expectEqual(at(pagination, 'offset'), 0, 'pagination.offset');
    },
  },
  {
    name: 'download-shape',
    clause: 'Catalog spec: Other shapes, downloadManifest',
    expects: 'url, expiresAt, format json.gz, sizeBytes and checksum',
    async run(scene) {
      expectShape(DownloadManifest, await manifestOf(scene), 'message.downloadManifest');
    },
  },
  {
    name: 'download-checksum',
    clause: `${answering}, download rules`,
    expects: 'bytes at the url with that checksum and size',
    async run(scene) {
      const manifest = await manifestOf(scene);
      const bytes = await scene.download(String(at(manifest, 'url')));
      expectEqual(sha256Digest(bytes), at(manifest, 'checksum'), 'the checksum of the bytes');
      expectEqual(bytes.length, at(manifest, 'sizeBytes'), 'the number of bytes');
    },
  },
  {
    name: 'pull-latest',
    clause: `${pulling}, FULL returns the latest version of each matching catalog`,
    expects: 'the catalog of the subscription, as it was published last',
    async run(scene) {
      const { id } = scene.samples;
      const found = await findPulled(scene, id('chargers'));
      expectThat(found !== undefined, 'it is not among the catalogs');
      const ids = listAt(found, 'resources').map((one) => at(one, 'id'));
      expectEqual(show(ids), show([id('r4')]), 'the list of its resources');
    },
  },
  {
    name: 'pull-matches',
    clause: `${pulling}, catalogs are determined by the subscription`,
    expects: 'no catalog that has no schema type of the subscription',
    async run(scene) {
      const found = await findPulled(scene, scene.samples.id('plain'));
      expectThat(found === undefined, `there is ${show(found)}`);
    },
  },
];

async function messageOf({ pulled }: CatalogScene): Promise<Json> {
  return at(requireCallback(await pulled()).body, 'message') ?? null;
}

async function requireCompleted(scene: CatalogScene): Promise<Json> {
  const message = await messageOf(scene);
  if (at(message, 'status') !== 'COMPLETED') throw new CheckSkipped('on_pull is not COMPLETED');
  return message;
}

async function manifestOf(scene: CatalogScene): Promise<Json> {
  const message = await requireCompleted(scene);
  const manifest = at(message, 'downloadManifest');
  if (manifest === undefined || at(message, 'catalogs') !== undefined)
    throw new CheckSkipped('the catalogs came inline');
  return manifest;
}

const pageSize = 100;
const maxPages = 50;

async function findPulled(scene: CatalogScene, catalogId: string): Promise<Json | undefined> {
  const subscriptionId = await scene.subscriptionId();
  let message = await requireCompleted(scene);
  for (let page = 1; ; page += 1) {
    const catalogs = await catalogsIn(scene, message);
    const found = catalogs.find((one) => at(one, 'id') === catalogId);
    if (found !== undefined || catalogs.length < pageSize) return found;
    if (page === maxPages) throw new CheckSkipped(`it is not on the first ${maxPages} pages`);
    const next = { subscriptionId, limit: pageSize, offset: page * pageSize };
    message = at(requireCallback(await ask(scene, actions.pull, { message: next })).body, 'message') ?? null;
  }
}

async function catalogsIn(scene: CatalogScene, message: Json): Promise<Json[]> {
  const manifest = at(message, 'downloadManifest');
  if (manifest === undefined || at(message, 'catalogs') !== undefined) return listAt(message, 'catalogs');
  const bytes = await scene.download(String(at(manifest, 'url')));
  try {
    const content = parseIfJson(gunzipSync(bytes));
    return Array.isArray(content) ? content : listAt(content, 'catalogs');
  } catch (error) {
    throw new CheckFailed(`the download is no gzip: ${error instanceof Error ? error.message : error}`);
  }
}

import { randomUUID } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { actions } from '../protocol/actions.ts';
import { sha256Digest } from '../protocol/digest.ts';
import { type Json, parseIfJson } from '../protocol/json.ts';
import { DownloadManifest } from '../protocol/pull-messages.ts';
import { ask, callbackChecks, requireCallback } from './callback.ts';
import type { CatalogScene } from './catalog-scene.ts';
import { CheckFailed, CheckSkipped, clause } from './check.ts';
import { expectAck, expectEqual, expectPagination, expectShape, expectStatus, expectThat } from './expect.ts';
import { refusal } from './request-checks.ts';
import type { Answer } from './sender.ts';
import { another } from './subscription-checks.ts';
import { at, idsIn, listAt, show } from './values.ts';

const on = clause<CatalogScene>;

const pulling = 'Catalog spec: POST /catalog/pull';
const answering = 'Catalog spec: POST /catalog/on_pull';

export const pullChecks = [
  ...on(pulling, {
    ...refusal('pull-incremental: mode is INCREMENTAL', 'NET_NOT_IMPLEMENTED', (scene) =>
      sendPull(scene, { mode: 'INCREMENTAL' }),
    ),
    ...refusal('pull-invalid-subscription: subscriptionId is not a UUID', 400, ({ self }) =>
      self.send(actions.pull, { message: { subscriptionId: 'none' } }),
    ),
    ...refusal('pull-unknown-subscription: there is no such subscription', 404, ({ self }) =>
      self.send(actions.pull, { message: { subscriptionId: randomUUID() } }),
    ),
    ...refusal('pull-own-only: the subscription is that of another caller', 403, async (scene) =>
      another(scene).send(actions.pull, { message: { subscriptionId: await scene.subscriptionId() } }),
    ),
  }),
  ...on(
    'Catalog spec: Limits',
    refusal('pull-limit: limit is 101', 400, (scene) => sendPull(scene, { limit: 101 })),
  ),
  ...on(`${pulling}, fromDate and toDate are ignored`, {
    'pull-dates-ignored: 200 for a FULL pull, whatever fromDate and toDate are': async (scene) => {
      const dates = { fromDate: '2001-01-01T00:00:00Z', toDate: '2001-01-02T00:00:00Z' };
      expectStatus(await sendPull(scene, { limit: 1, ...dates }), 200);
    },
  }),
  ...on(pulling, {
    'pull-acknowledged: 200 with status ACK and the messageId of the request, and nothing outside message':
      async ({ pulled }) => expectAck((await pulled()).answer),
  }),
  ...callbackChecks<CatalogScene>('pull', answering, ({ pulled }) => pulled()),
  ...on(answering, {
    'on-pull-status: status COMPLETED, or FAILED with the messageId of the pull and an error, and without catalogs':
      async (scene) => {
        const message = await messageOf(scene);
        const status = at(message, 'status');
        expectThat(status === 'COMPLETED' || status === 'FAILED', `status is ${show(status)}`);
        if (status === 'COMPLETED') return;
        const isBare = at(message, 'catalogs') === undefined && at(message, 'downloadManifest') === undefined;
        expectThat(isBare && at(message, 'error', 'code') !== undefined, `message is ${show(message)}`);
        expectEqual(at(message, 'messageId'), (await scene.pulled()).answer.messageId, 'message.messageId');
      },
  }),
  ...on(`${answering}, exactly one of catalogs or downloadManifest`, {
    'on-pull-one-form: either catalogs or downloadManifest, never both': async (scene) => {
      const message = await requireCompleted(scene);
      const forms = ['catalogs', 'downloadManifest'].filter((member) => at(message, member) !== undefined);
      expectEqual(forms.length, 1, `the number of forms in ${show(Object.keys(message as object))}`);
    },
  }),
  ...on(answering, {
    'on-pull-pagination: pagination with total, and limit and offset of the request': async (scene) => {
      expectPagination(await requireCompleted(scene), { limit: 100, offset: 0 });
    },
  }),
  ...on('Catalog spec: Other shapes, downloadManifest', {
    'download-shape: url, expiresAt, format json.gz, sizeBytes and checksum': async (scene) => {
      expectShape(DownloadManifest, await manifestOf(scene), 'message.downloadManifest');
    },
  }),
  ...on(`${answering}, download rules`, {
    'download-checksum: bytes at the url with that checksum and size': async (scene) => {
      const manifest = await manifestOf(scene);
      const bytes = await scene.download(String(at(manifest, 'url')));
      expectEqual(sha256Digest(bytes), at(manifest, 'checksum'), 'the checksum of the bytes');
      expectEqual(bytes.length, at(manifest, 'sizeBytes'), 'the number of bytes');
    },
  }),
  ...on(`${pulling}, FULL returns the latest version of each matching catalog`, {
    'pull-latest: the catalog of the subscription, as it was last published': async (scene) => {
      const { id } = scene.samples;
      const found = await findPulled(scene, id('chargers'));
      expectThat(found !== undefined, 'it is not among the catalogs');
      expectEqual(show(idsIn(listAt(found, 'resources'))), show([id('r4')]), 'the list of its resources');
    },
  }),
  ...on(`${pulling}, catalogs are determined by the subscription`, {
    'pull-matches: no catalog that has no schema type of the subscription': async (scene) => {
      const found = await findPulled(scene, scene.samples.id('plain'));
      expectThat(found === undefined, `there is ${show(found)}`);
    },
  }),
];

async function sendPull({ self, subscriptionId }: CatalogScene, message: object): Promise<Answer> {
  return self.send(actions.pull, { message: { subscriptionId: await subscriptionId(), ...message } });
}

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
    throw new CheckFailed(`the download is not gzip: ${error instanceof Error ? error.message : error}`);
  }
}

import { randomUUID } from 'node:crypto';
import type { Lane } from '../delivery/lane-loop.ts';
import type { RenderForm, SendPart } from '../delivery/push-loop.ts';
import { createSlots } from '../delivery/slots.ts';
import type { StrictRenderer } from '../delivery/strict-renderer.ts';
import { actions } from '../protocol/actions.ts';
import type { RegistryClient } from '../registry/client.ts';
import { joinPath } from '../rules/base-address.ts';
import { planPush } from '../rules/push-message.ts';
import type { SaidCatalog } from '../rules/push-outcome.ts';
import { createBatch } from '../storage/batch.ts';
import { readHead, readParts } from '../storage/catalog/push-content.ts';
import { beginPart, type DuePush, type HeldLane, retakePushes } from '../storage/catalog/pushes.ts';
import type { Database } from '../storage/database.ts';
import { LeaseLost } from '../storage/work/due-work.ts';
import type { CatalogContext } from './context.ts';
import { createPushContents, renderCatalog, type SayingPlan } from './push-content.ts';
import { createPushRenderer, type RenderPush } from './render-push.ts';

// Composes POST /catalog/push (catalog spec): one catalog, fully assembled, with the directive that says how the Discovery Service applies it. A push
// that does not fit into one body is sent in parts of one version, back to back: the first as planned, the others as merges.

/** Larger bodies are split. */
export const maxPartBytes = 10 * 1024 * 1024;
/** A push that has waited longer is recomputed from subscriptions, catalog and time. */
const maxWaitMs = 1_000;
/** One statement for all pushes that are recomputed together: if one has waited this long, most have. */
const retaking = { maxItems: 500, gatherMs: 1 };
/** A push in parts holds a connection to the database and a part in memory while it is sent. */
const maxPushesInParts = 8;

export type Said = { kind: 'nothing' } | { kind: 'no endpoint' } | ({ kind: 'catalog' } & SaidCatalog);

export function createComposer(context: CatalogContext, strict: StrictRenderer) {
  const { database, registry, config } = context;
  const renderPush = createPushRenderer(context, strict);
  const findContent = createPushContents(database);
  const inParts = Math.max(1, Math.min(maxPushesInParts, Math.floor(config.DATABASE_CONNECTIONS / 4)));
  const slots = createSlots({ total: inParts, perParty: Math.ceil(inParts / 4) });
  const retakeTogether = createBatch(retaking, (waited: { push: DuePush; lane: HeldLane }[]) =>
    retakePushes(database, waited),
  );

  return async (taken: DuePush, send: SendPart, lane: Lane): Promise<Said> => {
    const { subscriber, catalogKey } = taken;
    const partBytes = taken.record.partBytes ?? maxPartBytes;
    const retake = async () => {
      const push = await retakeTogether({ push: taken, lane });
      if (push === undefined) throw new LeaseLost('catalog.push', taken.id);
      return push;
    };
    const hasWaited = performance.now() - taken.takenMs > maxWaitMs;
    let leave: (() => void) | undefined;
    try {
      // Again only if the catalog changed between the two reads.
      for (let push = hasWaited ? await retake() : taken; ; push = await retake()) {
        const { record, basis } = push;
        // An operator may have skipped it while it waited.
        if (record.state === 'skipped') return { kind: 'nothing' };
        const plan = planPush(record, basis.catalog, basis.interests);
        if (plan.kind === 'nothing') return { kind: 'nothing' };
        const url = await findEndpoint(registry, subscriber);
        if (url === undefined) return { kind: 'no endpoint' };

        const { version } = basis.catalog;
        const withdrawn = plan.kind === 'withdrawal';
        const said: Said = { kind: 'catalog', version, networks: plan.visibleTo, withdrawn };
        const content = await findContent(catalogKey, version, plan);
        if (content.version !== version) continue;
        const body = content.catalog && renderPush(push, plan, content.catalog);
        if (body !== undefined && (body.bytes <= partBytes || withdrawn)) {
          await send(url, body.render);
          return said;
        }
        leave ??= await slots.enter(subscriber, lane.signal);
        const sendPart = (render: RenderForm) => send(url, render);
        if (await sendParts({ database, renderPush }, push, lane, plan, partBytes, sendPart)) return said;
      }
    } finally {
      leave?.();
    }
  };
}

/** Catalog spec, POST /catalog/push: the Discovery Service has a registered endpoint in the network. */
async function findEndpoint(registry: RegistryClient, subscriber: string): Promise<string | undefined> {
  const records = await registry.findSubscriber(subscriber);
  const url = records.find((record) => record.url !== undefined)?.url;
  return url === undefined ? undefined : joinPath(url, actions.push.path);
}

/** Reads and sends part by part from one snapshot. Sends nothing and returns false if the snapshot has another version than the plan. */
async function sendParts(
  { database, renderPush }: { database: Database; renderPush: RenderPush },
  push: DuePush,
  lane: Lane,
  plan: SayingPlan,
  partBytes: number,
  send: (render: RenderForm) => Promise<boolean>,
): Promise<boolean> {
  const { id, catalogKey, basis } = push;
  return database.transaction(
    async (snapshot) => {
      const { version, head } = await readHead(snapshot, catalogKey);
      if (version !== basis.catalog.version) return false;
      const bare = Buffer.from(renderCatalog(head, emptyMembers));
      const overhead = renderPush(push, plan, bare).bytes;
      const changedAfter = plan.kind === 'merge' ? plan.changedAfter : undefined;
      const transactionId = randomUUID();
      let next = plan;
      for await (const documents of readParts(snapshot, catalogKey, {
        changedAfter,
        partBytes: partBytes - overhead,
      })) {
        const timestamp = await beginPart(database, id, lane);
        const catalog = Buffer.from(renderCatalog(head, documents));
        const part = { ...push, basis: { ...basis, timestamp } };
        if (!(await send(renderPush(part, next, catalog, transactionId).render))) break;
        next = { ...plan, kind: 'merge', changedAfter: 0 };
      }
      return true;
    },
    { isolation: 'repeatable read' },
  );
}

const emptyMembers = { resources: [''], offers: [''] };

import { randomUUID } from 'node:crypto';
import type { RenderForm } from '../delivery/push-loop.ts';
import type { DigestedBody } from '../delivery/send.ts';
import type { StrictRenderer } from '../delivery/strict-renderer.ts';
import { actions } from '../protocol/actions.ts';
import type { Context } from '../protocol/context.ts';
import { type BodyDigest, createBodyDigest } from '../protocol/digest.ts';
import { protocolVersion } from '../protocol/endpoints.ts';
import type { PublishDirective } from '../protocol/publish-messages.ts';
import type { DuePush } from '../storage/catalog/pushes.ts';
import type { CatalogContext } from './context.ts';
import type { SayingPlan } from './push-content.ts';

// The body of a push. A change goes to many receivers, and their bodies differ only in the context. So the context comes last (the order of members
// in JSON has no meaning): everything before it is digested once and not copied per receiver. Strict form is rendered once for all receivers that
// want it.

export type RenderPush = (
  push: Pick<DuePush, 'subscriber' | 'basis'>,
  plan: SayingPlan,
  catalog: Buffer,
  transactionId?: string,
) => RenderedPush;

interface RenderedPush {
  /** As published. */
  bytes: number;
  render: RenderForm;
}

export function createPushRenderer(
  context: Pick<CatalogContext, 'self' | 'hosting'>,
  strict: StrictRenderer,
): RenderPush {
  /** By the bytes of a catalog, while they are in use. */
  const strictCatalogs = new WeakMap<Buffer, Promise<Buffer>>();

  function strictly(catalog: Buffer, owner: string): Promise<Buffer> {
    const known = strictCatalogs.get(catalog);
    if (known) return known;
    const rendered = strict
      .render({ shape: 'catalog', json: catalog }, owner)
      .then(({ text }) => (text === undefined ? catalog : Buffer.from(text)));
    strictCatalogs.set(catalog, rendered);
    rendered.catch(() => strictCatalogs.delete(catalog));
    return rendered;
  }

  return ({ subscriber, basis }, plan, catalog, transactionId = randomUUID()) => {
    const messageId = randomUUID();
    const bodyOf = (content: Buffer) =>
      renderBody(context, basis, plan, content, { messageId, transactionId });
    const full = bodyOf(catalog);
    return {
      bytes: full.bytes,
      render: async (form) => (form === 'full' ? full : bodyOf(await strictly(catalog, subscriber))),
    };
  };
}

function renderBody(
  { self, hosting }: Pick<CatalogContext, 'self' | 'hosting'>,
  { catalogId, type, timestamp }: DuePush['basis'],
  plan: SayingPlan,
  catalog: Buffer,
  { messageId, transactionId }: { messageId: string; transactionId: string },
): DigestedBody {
  const context: Context = {
    version: protocolVersion,
    action: actions.push.name,
    messageId,
    transactionId,
    timestamp: timestamp.toISOString(),
    bppId: self.subscriberId,
    bppUri: hosting.url,
  };
  const directive: PublishDirective = {
    catalogId,
    catalogType: type,
    updateMode: plan.kind === 'full' ? 'FULL' : 'MERGE',
    visibleTo: [...plan.visibleTo],
  };
  const start = Buffer.from(`{"message":{"publishDirectives":[${JSON.stringify(directive)}],"catalogs":[`);
  const end = Buffer.from(`]},"context":${JSON.stringify(context)}}`);
  const digest = digestBeginning(start, catalog);
  digest.update(end);
  return {
    pieces: [start, catalog, end],
    bytes: start.length + catalog.length + end.length,
    digest: digest.digest(),
    messageId,
    transactionId,
  };
}

/** By the bytes of a catalog, while they are in use, and by the text before them. */
const beginnings = new WeakMap<Buffer, Map<string, BodyDigest>>();
/** Receivers of one catalog may get different networks. */
const maxBeginnings = 16;

function digestBeginning(start: Buffer, catalog: Buffer): BodyDigest {
  const known = beginnings.get(catalog) ?? new Map<string, BodyDigest>();
  beginnings.set(catalog, known);
  const name = start.toString('latin1');
  const found = known.get(name);
  if (found) return found.copy();
  const digest = createBodyDigest();
  digest.update(start);
  digest.update(catalog);
  if (known.size < maxBeginnings) known.set(name, digest.copy());
  return digest;
}

import type { CatalogType, ReceivedCatalog } from '../../protocol/catalog.ts';
import { boundsOf } from '../../rules/time-period.ts';
import { hash53 } from '../entries/attributes.ts';
import type { WrittenGeneration } from '../generations/in-use.ts';
import type { CatalogRow, HeldCatalog, ValidityRow } from './catalog-rows.ts';

export interface IncomingCatalog {
  /** 'service:<identity>' of a catalog service, or 'node'. */
  source: string;
  /** Identity of the provider node. */
  owner: string;
  type: CatalogType;
  /** None or null: every network. */
  networks: readonly string[] | null;
  catalog: ReceivedCatalog;
  /** FULL leaves exactly what this catalog brings; MERGE keeps what it does not mention. */
  mode: 'FULL' | 'MERGE';
  /** A MERGE whose catalog-level members are all that there are: a part of a whole that is too large to come at once. */
  replacesMembers?: boolean;
  /** Ids that go, where a MERGE names some. */
  removals?: { resources?: readonly string[]; offers?: readonly string[] };
  /** Resources that come with a MERGE of the same transaction: until then they stay as they are. */
  later?: ReadonlySet<string>;
  /** Its geometries were found to be cheap enough to search among: that takes long for large ones. */
  areGeometriesChecked?: boolean;
  /** context.timestamp of the push, or when the pull was sent, that brought it. */
  pushedAt?: Date;
  pulledAt?: Date;
}

/** A catalog on its way into the index. */
export interface Target {
  incoming: IncomingCatalog;
  before: HeldCatalog;
  /** That its documents are in. */
  generations: readonly WrittenGeneration[];
  /** The row as it will be; documents that are written number and count themselves in it. */
  row: CatalogRow;
  written: number;
  removed: number;
  unindexed: UnindexedGeometry[];
}

/** A geometry that is too costly to search among, accepted by another catalog service. No search finds its document by it. */
export interface UnindexedGeometry {
  /** Of the resource or offer; none: of the provider. */
  id?: string;
  path: string;
}

export function targetOf(
  incoming: IncomingCatalog,
  before: HeldCatalog,
  generations: readonly WrittenGeneration[],
): Target {
  const { resources: _resources, offers: _offers, ...members } = incoming.catalog;
  const keeps = incoming.mode === 'MERGE' && before.known && !incoming.replacesMembers;
  const head = (keeps ? { ...before.head, ...members } : members) as typeof members;
  const { known: _known, ...held } = before;
  const row: CatalogRow = {
    ...held,
    type: incoming.type,
    head,
    head_digest: hash53(JSON.stringify(head)),
    provider_id: head.provider.id,
    networks: incoming.networks ?? [],
    schema_uses: { ...before.schema_uses },
    is_active: head.isActive ?? true,
    ...validityRow(head.validity),
    pushed_at: incoming.pushedAt ?? before.pushed_at,
    pulled_at: incoming.pulledAt ?? before.pulled_at,
  };
  const theirs = generations.filter(({ number }) => number <= before.generation);
  return { incoming, before, generations: theirs, row, written: 0, removed: 0, unindexed: [] };
}

export function validityRow(validity: ReceivedCatalog['validity']): ValidityRow {
  const { from, until, window } = boundsOf(validity);
  return {
    valid_from: from ?? null,
    valid_until: until ?? null,
    window_start: window?.start ?? null,
    window_length: window?.length ?? null,
  };
}

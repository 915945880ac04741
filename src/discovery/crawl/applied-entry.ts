import type { ReceivedCatalog, Resource } from '../../protocol/catalog.ts';
import { type CatalogLevel, catalogOf } from '../../rules/self-hosted/content.ts';
import type { TrustedEntry } from '../../rules/self-hosted/trust-index.ts';
import type { IncomingCatalog } from '../../search/port.ts';
import type { AppliedTarget, TargetRow } from '../../storage/crawl/targets.ts';
import type { Applicable } from './assemble.ts';

// The effect of a reading on the index, and the new cursor.

export const nodeSource = 'node';

/** @param later resources that the reading lacks, because they follow with `laterOf` */
export function incomingOf(
  row: TargetRow,
  trusted: TrustedEntry,
  reading: Applicable,
  later: ReadonlySet<string>,
): IncomingCatalog {
  const isActive = { isActive: trusted.entry.isActive };
  const common = { ...originOf(row, trusted), later };
  const { kind, content, removals } = reading;
  if (kind === 'full') {
    const catalog = { ...catalogOf(content), ...ownerOf(row, content.members), ...isActive };
    return { ...common, catalog, mode: 'FULL' };
  }
  const catalog = {
    ...{ ...content.members, id: row.catalog_id, ...isActive },
    ...{ resources: [...content.resources.values()], offers: [...content.offers.values()] },
  } as ReceivedCatalog;
  const removed = { resources: [...removals.resources], offers: [...removals.offers] };
  return { ...common, catalog, mode: 'MERGE', removals: removed };
}

export function laterOf(row: TargetRow, trusted: TrustedEntry, resources: Resource[]): IncomingCatalog {
  const catalog = { id: row.catalog_id, resources } as ReceivedCatalog;
  return { ...originOf(row, trusted), catalog, mode: 'MERGE' };
}

function originOf(row: TargetRow, { entry }: TrustedEntry) {
  const { catalogType: type, networkIds: networks = [] } = entry;
  // Checked when its files were verified, and when it was assembled.
  const areGeometriesChecked = true;
  return { source: nodeSource, owner: row.node, type, networks, areGeometriesChecked };
}

/** The address for orders, if the catalog does not name one. */
function ownerOf({ subscriber_id: bppId, url: bppUri }: TargetRow, members: CatalogLevel) {
  return {
    ...(members.bppId === undefined && bppId !== null && { bppId }),
    ...(members.bppUri === undefined && bppUri !== null && { bppUri }),
  };
}

/** If the path ends before the announced version, its content is kept, but the entry stays unfinished. */
export function cursorOf(
  row: TargetRow,
  { entry, signedBy }: TrustedEntry,
  reading: Applicable,
): Omit<AppliedTarget, 'resources' | 'due_in_ms'> {
  const [fault] = reading.faults;
  const { kind, keys } = reading;
  const isWhole = kind === 'full';
  return {
    ...{ id: row.id, stir: row.stir, entry_key: signedBy, applied_master: entry.catalogType === 'MASTER' },
    ...{ version: reading.content.version, reread: isWhole },
    // Content that was read again from its baseline has only these keys' signatures.
    content_keys: isWhole ? keys : [...new Set([...row.content_keys, ...keys])],
    ...(reading.complete
      ? {
          settled_digest: row.digest,
          applied_entry_version: entry.entryVersion,
          failures: 0,
          last_code: null,
        }
      : {
          settled_digest: null,
          applied_entry_version: row.applied_entry_version ?? 0,
          failures: row.failures + 1,
          last_code: fault?.code ?? null,
        }),
  };
}

import type { Catalog } from '../protocol/catalog.ts';

// What a Discovery Service is told of a catalog that is not for it any more, or not active: that, and nothing that it did not know. The
// specification asks for a descriptor, a provider, and at least one resource or offer; where what stands there now is new to the receiver,
// something bare stands in. Its copy is not in use then, and the next push that brings the catalog back replaces it whole.

/** The catalog-level members, as JSON text, with `isActive: false`; to whom may not see them, only who and which it is. */
export function withdrawnHead(head: string, { isVisible }: { isVisible: boolean }): string {
  const members = parseHead(head);
  const { id, bppId } = members;
  const publisher = bppId ?? id;
  const bare = {
    id,
    bppId,
    descriptor: { name: id },
    provider: { id: publisher, descriptor: { name: publisher } },
  };
  return JSON.stringify({ ...(isVisible ? members : bare), isActive: false });
}

/** A resource that says nothing, where the catalog has none left that the receiver knows. */
export function bareDocument(head: string): string {
  return JSON.stringify({ id: parseHead(head).id });
}

type Head = Omit<Catalog, 'resources' | 'offers'>;

/** As storage keeps it: it was a valid catalog when it was published. */
function parseHead(head: string): Head {
  return JSON.parse(head);
}

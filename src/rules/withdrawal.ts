import type { CatalogMembers } from './merge.ts';

// The last push of a catalog that is inactive, or no longer meant for a Discovery Service: it says only that. The specification requires a
// descriptor, a provider, and at least one resource or offer: if these are new to the receiver, bare ones replace them.

/** The catalog-level members, as JSON text, with `isActive: false`; a receiver that may not see them gets only the ids. */
export function withdrawnHead(head: string, { isVisible }: { isVisible: boolean }): string {
  const members: CatalogMembers = JSON.parse(head);
  const { id, bppId } = members;
  const publisher = bppId ?? id;
  const provider = { id: publisher, descriptor: { name: publisher } };
  const bare = { id, bppId, descriptor: { name: id }, provider };
  return JSON.stringify({ ...(isVisible ? members : bare), isActive: false });
}

/** A resource without content, if the catalog has none left that the receiver knows. */
export function bareDocument(head: string): string {
  const { id }: CatalogMembers = JSON.parse(head);
  return JSON.stringify({ id });
}

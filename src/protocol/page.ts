/** catalog spec: Limits. */
const defaultLimit = 20;

export interface Page {
  limit: number;
  offset: number;
}

export function pageOf({ limit = defaultLimit, offset = 0 }: Partial<Page>): Page {
  return { limit, offset };
}

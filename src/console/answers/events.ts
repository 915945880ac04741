type Stored = 'catalog' | 'delivery' | 'crawl' | 'publish' | 'subscription' | 'health' | 'operator';
/** What an event of GET /api/events names as changed. */
export type Topic = Stored | 'inbox';

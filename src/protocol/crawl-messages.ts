/** The crawl log for the nodes that a discovery service crawls, and their hints (self-hosted spec: Errors, "a DS's own crawl log is where they appear"; Events, "an optional out-of-band change signal"). */

import { closedTitled, DateTime, Limit, Offset, Pagination, titled } from './shapes.ts';
import { type Static, Type } from './type.ts';

const NodeId = Type.String({
  minLength: 1,
  maxLength: 512,
  description: 'SubscriberId of the node.',
  examples: ['provider.example.org'],
});

export const CrawlLogQuery = Type.Object({
  nodeId: NodeId,
  limit: Type.Optional(Limit),
  offset: Type.Optional(Offset),
});

export const CrawlLogEntry = titled('CrawlLogEntry', {
  at: Type.String({ ...DateTime, description: 'When it was seen last.' }),
  nodeId: NodeId,
  indexUrl: Type.Optional(Type.String()),
  catalogId: Type.Optional(Type.String()),
  url: Type.Optional(Type.String({ description: 'The requested URL.' })),
  code: Type.String({ description: 'The reason, for a program.', examples: ['digest-mismatch'] }),
  message: Type.String({ description: 'The reason, for a person.' }),
  hint: Type.String({ description: 'What to do about it.' }),
});
export type CrawlLogEntry = Static<typeof CrawlLogEntry>;

export const CrawlLogAnswer = titled('CrawlLogAnswer', {
  entries: Type.Array(CrawlLogEntry, { description: 'The latest first.' }),
  pagination: Pagination,
});
export type CrawlLogAnswer = Static<typeof CrawlLogAnswer>;

export const CrawlHint = closedTitled('CrawlHint', { nodeId: NodeId });

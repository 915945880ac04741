import { CatalogType, ReceivedCatalog } from './catalog.ts';
import { AnswerContext, Context, envelope } from './context.ts';
import { closedTitled, Limit, NetworkId, Offset, Pagination, SchemaType } from './shapes.ts';
import { type Static, Type } from './type.ts';

export const SearchFilters = closedTitled('SearchFilters', {
  type: Type.Optional(Type.Enum(CatalogType.enum, { type: 'string', default: 'MASTER' })),
  networkIds: Type.Optional(Type.Array(NetworkId, { description: 'Omitted or empty: every network.' })),
  schemaTypes: Type.Optional(Type.Array(SchemaType, { description: 'Omitted or empty: every schema type.' })),
});
export type SearchFilters = Static<typeof SearchFilters>;

export const SearchMessage = closedTitled('SearchMessage', {
  filters: Type.Optional(SearchFilters),
  limit: Type.Optional(Limit),
  offset: Type.Optional(Offset),
});
export type SearchMessage = Static<typeof SearchMessage>;

export const SearchRequest = envelope('SearchRequest', Context, SearchMessage);

export const SearchAnswer = Type.Object(
  {
    context: AnswerContext,
    message: Type.Object({ catalogs: Type.Array(ReceivedCatalog), pagination: Pagination }),
  },
  { title: 'SearchAnswer', description: 'Action catalog/on_search; resources are assembled.' },
);
export type SearchAnswer = Static<typeof SearchAnswer>;

import type { ServiceContext } from '../delivery/service.ts';
import type { SchemaStore } from '../schemas/schema-store.ts';
import type { SearchService } from '../search/port.ts';
import type { EmptySearches } from '../storage/console/empty-searches.ts';

/** What the actions and loops of the discovery service work with. */
export interface DiscoveryContext extends ServiceContext {
  /** The service's public base address. */
  url: string;
  search: SearchService;
  /** The domain schemas that crawled attributes are checked against. */
  schemas: SchemaStore;
  /** Takes notes of searches that found nothing, for the operator. */
  emptySearches: EmptySearches;
}

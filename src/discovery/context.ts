import type { ServiceContext } from '../delivery/service.ts';
import type { SearchService } from '../search/port.ts';

/** What the actions and loops of the discovery service work with. */
export interface DiscoveryContext extends ServiceContext {
  search: SearchService;
}

import type { ServiceContext } from '../delivery/service.ts';
import type { SearchService } from '../search/port.ts';

/** The context of the actions and loops of the discovery service. */
export interface DiscoveryContext extends ServiceContext {
  search: SearchService;
}

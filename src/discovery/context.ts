import type { ServiceContext } from '../delivery/service.ts';
import type { SearchService } from '../search/port.ts';

export interface DiscoveryContext extends ServiceContext {
  search: SearchService;
}

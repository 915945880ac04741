import type { ServiceContext } from '../delivery/service.ts';
import type { SchemaStore } from '../schemas/schema-store.ts';

/** The context of the actions and loops of the catalog service. */
export interface CatalogContext extends ServiceContext {
  /** The domain schemas that typed attributes are checked against. */
  schemas: SchemaStore;
}

import type { ServiceContext } from '../delivery/service.ts';
import type { SchemaStore } from '../schemas/schema-store.ts';

export interface CatalogContext extends ServiceContext {
  schemas: SchemaStore;
}

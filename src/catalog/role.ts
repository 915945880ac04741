import { ownConsoleUrl } from '../config.ts';
import { createService } from '../delivery/service.ts';
import { addHomePage } from '../http/home-page.ts';
import { schemaIdentities } from '../rules/schema-address.ts';
import { startOrClose } from '../start-or-close.ts';
import { renameSchemaTypes } from '../storage/catalog/subscriptions.ts';
import { watchBacklog } from './backlog.ts';
import type { CatalogContext } from './context.ts';
import { addDownloadRoute } from './download.ts';
import { createFreshMessages } from './fresh-messages.ts';
import { startSubmissionLoop } from './process-submission.ts';
import { addPublishRoute } from './publish.ts';
import { addPullRoute, startPullLoop } from './pull.ts';
import { startPush } from './push.ts';
import { startRebuilds } from './rebuild-dependents.ts';
import { addSearchRoute } from './search.ts';
import { addSubscriptionRoutes } from './subscription.ts';

/** The catalog service: one line per action, one per work loop. */
export async function startCatalogRole(context: CatalogContext) {
  const { config, hosting } = context;
  const backlog = watchBacklog(context);
  const service = createService(context, { role: 'catalog' });
  const { server, signed } = service;
  const fresh = createFreshMessages();
  addHomePage(server, {
    role: 'catalog',
    about:
      'The catalog service: providers publish here; discovery services subscribe, pull and receive pushes.',
    ...{ operations: hosting.operations, consoleUrl: ownConsoleUrl(context.config) },
  });
  addSubscriptionRoutes(server, signed, context);
  addPublishRoute(server, signed, context, { fresh, backlog });
  addPullRoute(server, signed, context);
  addDownloadRoute(server, context);
  addSearchRoute(server, signed, context, service);

  const loops: { close(): Promise<void> }[] = [];
  const close = async () => {
    await service.close();
    await Promise.all(loops.map((loop) => loop.close()));
    await service.strict.close();
    backlog.close();
  };
  return startOrClose(async () => {
    await renameSchemaTypes(context.database, (schemaTypes) =>
      schemaIdentities(schemaTypes, config.SCHEMA_ALIASES),
    );
    await server.listen({ host: config.HOST, port: config.CATALOG_PORT });
    loops.push(
      service.startCallbacks(),
      startSubmissionLoop(context, fresh),
      startRebuilds(context),
      startPush(context, service),
      startPullLoop(context, service),
    );
    return { url: hosting.url, close };
  }, close);
}

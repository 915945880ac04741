import { isAskedService } from '../protocol/asked-service.ts';
import type { ParticipantRecord } from '../protocol/registry-record.ts';
import type { Transaction } from '../storage/database.ts';
import { feedTable, learnService, listFeeds } from '../storage/feeds/feeds.ts';
import type { DiscoveryContext } from './context.ts';

// Identifies the catalog service of a subscription: the configured identity, or the one that answered at the configured address; until that is
// known, the signer whose registry record has the origin of that address.

export function isService(
  { service, catalog_url: catalogUrl }: { service: string | null; catalog_url: string },
  identity: string,
  record: Pick<ParticipantRecord, 'url'>,
): boolean {
  return isAskedService({ identity: service ?? undefined, url: catalogUrl }, identity, record);
}

/** The feeds of the signer, which is remembered as their service. */
export async function findFeedsOf(tx: Transaction, identity: string, record: Pick<ParticipantRecord, 'url'>) {
  const feeds = (await listFeeds(tx)).filter((feed) => isService(feed, identity, record));
  const learned = feeds.filter(({ service }) => service === null).map(({ id }) => id);
  if (learned.length > 0) await learnService(tx, learned, identity);
  return feeds;
}

const refreshMs = 5_000;

/** The known services, as of a moment ago: their pushes are exempt from the rate limit. */
export function watchServices({ database, logger }: DiscoveryContext) {
  let services = new Set<string | null>();
  const refresh = () =>
    void listFeeds(database)
      .then((feeds) => {
        services = new Set(feeds.map(({ service }) => service));
      })
      .catch((error) => logger.debug({ err: error }, 'cannot read the feeds'));
  refresh();
  const listening = database.listen(feedTable, refresh);
  const timer = setInterval(refresh, refreshMs).unref();
  return {
    has: (identity: string) => services.has(identity),
    close() {
      clearInterval(timer);
      listening.stop();
    },
  };
}

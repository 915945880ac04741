import type { Config } from '../../config.ts';
import { downDiscoveryId, providerId } from '../../demo/network.ts';
import { demoCity } from '../../demo/places.ts';
import { identityOf } from '../../protocol/identity.ts';
import type { CommandContext } from '../command.ts';

/**
 * Where the environment says nothing else: everything is on this machine, and the discovery service follows the catalog service and crawls
 * whoever publishes for itself.
 */
export function readUpConfig(
  context: CommandContext,
  { empty, workers }: { empty?: boolean; workers?: string },
): Config {
  const { identities, roles, DEFAULT_NETWORK_ID } = context.config();
  const { id: catalogId, url: catalogUrl } = identities.catalog;
  const subscriptions = [{ catalogUrl, catalogId, networkIds: [DEFAULT_NETWORK_ID] }];
  const usual = {
    ALLOW_PRIVATE_ADDRESSES: 'true',
    DISCOVERY_SUBSCRIPTIONS: JSON.stringify(subscriptions),
    DISCOVERY_NETWORKS: JSON.stringify([DEFAULT_NETWORK_ID]),
    CRAWL_HINT_URLS: JSON.stringify(roles.includes('discovery') ? [identities.discovery.url] : []),
    // A catalog that is published as files is found within seconds.
    CRAWL_INTERVAL_SECONDS: '4',
    CRAWL_MIN_INTERVAL_SECONDS: '2',
    PUBLISH_WARNINGS: 'true',
    // Deliveries to the discovery service that is down are parked after 43 seconds, so that a newcomer sees them wait and be parked.
    ...(!empty && { RETRY_HOURS: '0.012' }),
  };
  const unset = Object.entries(usual).filter(([setting]) => !context.isSet(setting));
  const config = context.config({
    ...Object.fromEntries(unset),
    ...(workers !== undefined && { WORKERS: workers }),
  });
  if (empty) return config;
  const quietAbout = [identityOf(downDiscoveryId, config.REGISTRY_NAME)];
  return { ...config, demo: { city: demoCity, providerId, quietAbout } };
}

import { type Config, readConfig } from '../../../src/config.ts';
import { type Logger, silentLogger } from '../../../src/logger.ts';
import { type Process, startProcess } from '../../../src/main.ts';
import { identityOf, splitIdentity } from '../../../src/protocol/identity.ts';
import { publicKeyOf } from '../../../src/protocol/keys.ts';
import { loadOrCreateSigningKey } from '../../../src/registry/key-files.ts';
import type { SubscriptionSetting } from '../../../src/setting-items.ts';
import type { Database } from '../../../src/storage/database.ts';
import { feedTable } from '../../../src/storage/feeds/feeds.ts';
import { registerParticipant } from '../../../src/storage/registry/participants.ts';
import { freePort } from '../free-port.ts';
import { until } from '../time.ts';
import type { Body } from './actor.ts';
import { defaultNetwork, type TestNetwork } from './network.ts';

// The real discovery service beside a network whose process runs the registry and the catalog service, so that each can be stopped separately.

export const withoutDiscovery = { ROLES: 'registry,catalog' };

export interface TestDiscovery {
  url: string;
  config: Config;
  identity: string;
  stop(): Promise<void>;
  start(subscriptions?: readonly SubscriptionSetting[]): Promise<void>;
  /** Pulls everything again, and waits until that is done. */
  pull(): Promise<void>;
  /** Waits until no pull is under way or due. */
  settled(timeoutMs?: number): Promise<void>;
}

export async function startDiscovery(
  network: TestNetwork,
  subscriptions: readonly SubscriptionSetting[],
  settings: Record<string, string> = {},
  { logger = silentLogger(), now }: { logger?: Logger; now?: () => Date } = {},
): Promise<TestDiscovery> {
  const port = await freePort();
  const configure = (wanted: readonly SubscriptionSetting[]) =>
    readConfig({
      ROLES: 'discovery',
      DATABASE_URL: network.databaseUrl,
      DATA_DIR: network.config.DATA_DIR,
      DISCOVERY_PORT: String(port),
      DISCOVERY_SUBSCRIPTIONS: JSON.stringify(wanted),
      REGISTRY_URL: network.config.registryUrl,
      ALLOW_PRIVATE_ADDRESSES: 'true',
      MASTER_PUBLISHERS: '*',
      RETRY_BASE_MS: '50',
      OVERLOAD_EVENT_LOOP_MS: '60000',
      ...settings,
    });
  const config = configure(subscriptions);
  const { discovery } = config.identities;
  const identity = identityOf(discovery.id, config.REGISTRY_NAME);
  await registerParticipant(network.database, {
    ...splitIdentity(identity),
    subscriberId: discovery.id,
    url: discovery.url,
    networkIds: [defaultNetwork],
    key: {
      recordId: discovery.keyId,
      publicKey: publicKeyOf(loadOrCreateSigningKey(config.DATA_DIR, discovery).privateKey),
    },
  });
  const { database } = network;
  let running: Process | undefined;
  const start = async (wanted = subscriptions) => {
    running = await startProcess(configure(wanted), { logger, now });
  };
  const settled = async (timeoutMs?: number): Promise<void> => {
    await until(
      async () => {
        const { rows } = await database.query<{ open: boolean }>(
          `select exists (select from discovery.feed where not configured or run is not null or pull_at is null or pull_at <= now()
             or subscription_id is null) as open`,
        );
        return rows[0]?.open === false;
      },
      'all pulls to be done',
      timeoutMs,
    );
  };
  await start();
  return {
    url: discovery.url,
    config,
    identity,
    start,
    async stop() {
      await running?.close();
      running = undefined;
    },
    settled,
    async pull() {
      await settled();
      await database.transaction(async (tx) => {
        await tx.query(
          'update discovery.feed set pull_at = now(), due_at = now(), completed_at = null where configured',
        );
        tx.hint(feedTable);
      });
      await until(async () => {
        const { rowCount } = await database.query('select from discovery.feed where completed_at is null');
        return rowCount === 0;
      }, 'everything to be pulled');
    },
  };
}

/** A catalog as the discovery service would serve it. */
export async function held(database: Database, id: string): Promise<Body | undefined> {
  const { rows } = await database.query<Body>(
    `select source, owner, id, type, networks, served, head,
       (select coalesce(json_agg(document order by key), '[]') from discovery.resource where catalog_key = catalog.key) as resources,
       (select coalesce(json_agg(document order by key), '[]') from discovery.offer where catalog_key = catalog.key) as offers
     from discovery.catalog where id = $1 and provider_id <> '' order by served desc`,
    [id],
  );
  return rows.map((row) => ({
    ...row,
    head: JSON.parse(row.head),
    resources: JSON.parse(row.resources),
    offers: JSON.parse(row.offers),
  }))[0];
}

export async function names(database: Database, id: string): Promise<string[] | undefined> {
  const copy = await held(database, id);
  return copy?.resources.map(({ descriptor }: Body) => descriptor.name);
}

import {
  readBaseAddress,
  readLanguage,
  readNameServer,
  readNetworkId,
  readNodeName,
  readSchemaAliases,
  readSubscription,
} from './setting-items.ts';
import {
  choice,
  databaseAddresses,
  days,
  decimal,
  flag,
  indexPrefix,
  integer,
  jsonList,
  jsonObject,
  type Kind,
  list,
  milliseconds,
  name,
  networkId,
  optional,
  port,
  seconds,
  seed,
  size,
  subscriberId,
  text,
  token,
  url,
} from './settings.ts';

// The settings of a process: every name, default, unit and meaning is only in `settings` below.
// scripts/settings-files.mjs makes docs/settings.md and .env.example from it. The file is longer than others, because it is one table, with a row for each setting.

export const roles = ['registry', 'catalog', 'publisher', 'discovery', 'console'] as const;
export type Role = (typeof roles)[number];

export const settings = {
  ROLES: list('all', `roles of this process, comma-separated: ${roles.join(', ')}, or all`),
  WORKERS: integer(
    1,
    'processes that run these roles behind the same ports, under a supervisor that restarts them; they share all limits, rates and cache sizes',
    { min: 1, max: 64 },
  ),
  HOST: text('127.0.0.1', 'address to listen on'),
  REGISTRY_PORT: port(4001, 'port of the registry role'),
  CATALOG_PORT: port(4002, 'port of the catalog service'),
  DISCOVERY_PORT: port(4003, 'port of the discovery service'),
  PUBLISHER_PORT: port(4004, 'port of the published files'),
  PUBLISHER_TRIGGER_HOST: text('127.0.0.1', 'address of the local trigger: keep it out of reach of others'),
  PUBLISHER_TRIGGER_PORT: port(4005, 'port of the local trigger'),
  PUBLISHER_TRIGGER_TOKEN: token(
    'token that the local trigger requires; off requires none; empty makes one at the first start, in PUBLISHER_DIR/trigger-token',
    { off: true },
  ),
  CONSOLE_HOST: text(
    '127.0.0.1',
    "address of the console, the operator's page and API; unless it is a loopback address, every request needs the token of an operator",
  ),
  CONSOLE_PORT: port(4000, 'port of the console'),
  OPERATOR_TOKEN: token(
    'token that may do everything at the console (signpost operators creates further ones); empty makes one at the first start, in DATA_DIR/operator-token',
  ),
  MAP_TILES: optional(text('', 'PMTiles file with streets for the console; empty means outlines only')),
  DEMO_PORT: port(4007, 'port of the second self-hosted provider in the network of "signpost up"'),
  OPERATIONS_HOST: text('127.0.0.1', 'address of /health, /ready, /metrics and /docs, on OPERATIONS_PORT'),
  OPERATIONS_PORT: optional(
    integer(
      0,
      'port of /health, /ready, /metrics and /docs; 0 puts them on the port of each role; empty means 4006 for "signpost serve", else 0',
      { max: 65_535 },
    ),
  ),
  TRUSTED_PROXIES: list('', 'proxies whose X-Forwarded-For is used: addresses or ranges, comma-separated'),
  DNS_SERVERS: list(
    '',
    'name servers for outgoing requests, comma-separated, with a port unless it is 53: 192.0.2.1:5353 or [2001:db8::1]:53; search domains are not used with them; empty means the name servers and search domains of the system',
    readNameServer,
  ),
  LOG_LEVEL: choice(['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'info', 'lowest level to log'),
  LOG_FORMAT: optional(choice(['pretty', 'json'], 'pretty', 'empty means pretty on a terminal, else json')),

  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    url(
      'base address of an OpenTelemetry collector (OTLP over HTTP in JSON) for traces, metrics and logs; the other OTEL_… variables, such as OTEL_EXPORTER_OTLP_HEADERS and OTEL_TRACES_SAMPLER, work as OpenTelemetry documents them; empty exports nothing',
    ),
  ),
  OTEL_SERVICE_NAME: text('signpost', 'service.name of the exported data'),
  OTEL_METRIC_EXPORT_INTERVAL: milliseconds(60_000, 'how often metrics are exported', { min: 100 }),
  OTEL_SDK_DISABLED: flag(false, 'export nothing, whatever the other OTEL_… settings say'),

  REGISTRY_URL: optional(
    url(
      'base address of the DeDi API, without /lookup/… or /query/…; empty means the registry role of this process',
    ),
  ),
  REGISTRY_NAME: name('subscribers.beckn.one', 'registry that a bare domain belongs to'),
  DATABASE_URL: {
    ...optional(
      text('', 'PostgreSQL connection string; empty means the embedded PostgreSQL (see EMBEDDED_DATABASE)'),
    ),
    secret: true,
  },
  DATABASE_READ_URL: databaseAddresses(
    'connection strings of streaming replicas of DATABASE_URL, comma-separated; searches read from them if they are up to date, otherwise from DATABASE_URL',
  ),
  EMBEDDED_DATABASE: flag(false, 'let "signpost serve" run on the embedded PostgreSQL, a beta build'),
  DATABASE_CONNECTIONS: integer(
    20,
    'most connections to the database, and to each replica, of all WORKERS together, at least two for each worker; pushes and large publishes use a few more',
    { min: 2, max: 500 },
  ),
  TRANSACTION_LIMIT_SECONDS: seconds(300, 'longest time of a transaction', { min: 10, max: 1_800 }),
  DATA_DIR: text('.signpost', 'directory of the embedded database, the keys and the published files'),

  CATALOG_ID: subscriberId('catalog.signpost.test', 'its subscriberId; "signpost serve" has no default'),
  CATALOG_KEY_ID: name('key-1', 'recordId of its signing key'),
  CATALOG_PRIVATE_KEY: seed('its Ed25519 seed, 32 bytes in Base64; empty generates one into DATA_DIR/keys'),
  CATALOG_URL: optional(url('its public base address; empty means from HOST and CATALOG_PORT')),

  DISCOVERY_ID: subscriberId('discovery.signpost.test', 'its subscriberId; "signpost serve" has no default'),
  DISCOVERY_KEY_ID: name('key-1', 'recordId of its signing key'),
  DISCOVERY_PRIVATE_KEY: seed('its Ed25519 seed, 32 bytes in Base64; empty generates one into DATA_DIR/keys'),
  DISCOVERY_URL: optional(url('its public base address; empty means from HOST and DISCOVERY_PORT')),
  DISCOVERY_SUBSCRIPTIONS: jsonList(
    '[]',
    'catalog services to follow: [{"catalogUrl", "catalogId"?, "networkIds"?, "schemaTypes"?}]',
    readSubscription,
  ),
  DISCOVERY_NETWORKS: jsonList('[]', 'networks to crawl: ["namespace/registry"]', readNetworkId),
  DISCOVERY_NODES: jsonList('[]', 'nodes to crawl: ["subscriberId" or "base address"]', readNodeName),
  CRAWL_INTERVAL_SECONDS: seconds(300, 'longest time between polls of a node or a network', { min: 1 }),
  SYNC_SECONDS: seconds(15, 'time between two rounds of signpost sync --watch', { min: 1 }),
  CRAWL_MIN_INTERVAL_SECONDS: seconds(30, 'shortest time between polls, despite next_update', { min: 1 }),
  CUTOVER_FRACTION: decimal(0.5, 'read the baseline if the change files are larger than this fraction of it'),
  REQUIRE_MANIFEST: flag(true, 'refuse nodes without a signed manifest; false uses their registry record'),
  ALLOW_UNSIGNED_INDEX: flag(false, 'accept an index without a signature; its entries need one in any case'),
  UNCONFIRMED: choice(['serve', 'hide'], 'serve', 'catalogs that their node neither lists nor has retired'),
  CRAWL_FETCH_TIMEOUT_MS: milliseconds(30_000, 'how long fetching one file may take', { min: 10 }),
  CRAWL_FILE_LIMIT: size('10mb', 'largest baseline or change file, as it is served'),
  CRAWL_INDEX_LIMIT: size('64mb', 'largest catalog index, as it is served'),
  CRAWL_INFLATED_LIMIT: size('100mb', 'largest file when it is decompressed'),
  CRAWL_MEMORY_LIMIT: size('256mb', 'most memory for decompressed files in use, of all nodes together'),
  CRAWL_DAILY_LIMIT: size('2gb', 'most that is fetched from one node in a day'),
  CRAWL_MAX_INDEXES: integer(100, 'most catalog indexes of one node', { min: 1 }),
  CRAWL_MAX_ENTRIES: integer(20_000, 'most entries in all catalog indexes of one node', { min: 1 }),
  CRAWL_MAX_CHANGES: integer(1000, 'most change files of one entry', { min: 1 }),
  CRAWL_MAX_MASTERS: integer(8, 'most master catalogs that one entry depends on', { min: 1 }),
  CRAWL_MAX_RESOURCES: integer(2_000_000, 'most resources of one node', { min: 1 }),
  CRAWL_LOG_DAYS: days(30, 'how long lines of the crawl log are kept'),
  DISCOVER_TIMEOUT_MS: milliseconds(
    5000,
    'how long the evaluation of a discover may take; waiting for its turns may take as long again',
    { min: 10, max: 600_000 },
  ),
  DISCOVER_MAX_LAG_MS: optional(
    milliseconds(
      0,
      'how long answers may lack a change that replicas (DATABASE_READ_URL) or OpenSearch do not have yet; 0 means that a discover sees everything that was committed before it; empty means 2000 with OpenSearch, else 0',
      { max: 30_000 },
    ),
  ),
  SEARCH_INDEX: choice(
    ['postgres', 'opensearch'],
    'postgres',
    'where the search index is: in the tables of DATABASE_URL, or in OpenSearch, for networks that outgrow one machine (docs/scaling.md)',
  ),
  OPENSEARCH_URL: list(
    '',
    'addresses of the nodes of OpenSearch, comma-separated; if one does not answer, the next is asked',
    readBaseAddress,
  ),
  OPENSEARCH_USER: optional(text('', 'user of OpenSearch; empty means none')),
  OPENSEARCH_PASSWORD: { ...optional(text('', 'password of OPENSEARCH_USER')), secret: true },
  OPENSEARCH_API_KEY: {
    ...optional(text('', 'API key, sent as "Authorization: ApiKey …" instead of user and password')),
    secret: true,
  },
  OPENSEARCH_CA_FILE: optional(
    text('', 'PEM file of its certificate authority; empty means that of Node.js'),
  ),
  OPENSEARCH_PREFIX: indexPrefix('signpost', 'start of its index names; each database needs its own'),
  OPENSEARCH_SHARDS: integer(1, 'primary shards of an index that is built', { min: 1, max: 1_000 }),
  SEARCH_LANGUAGES: list(
    'en,hi',
    'languages whose inflected forms a text search finds, by ISO 639 codes, comma-separated; empty finds only plurals with s',
    readLanguage,
  ),
  SEARCH_CACHE_PERCENT: integer(100, 'size of the search caches in percent of the default; 0 means none', {
    max: 400,
  }),
  DISCOVER_CONCURRENCY: integer(
    10,
    'searches at a time, of all WORKERS together; one identity gets at most half of them while others search',
    { min: 2, max: 500 },
  ),
  ACCEPT_POSTFIX_FILTERS: flag(
    true,
    'also accept filters in the form of PostgreSQL, $.catalogs[*].resources[*] ? (@.a == 1), not only RFC 9535',
  ),

  PUBLISHER_ID: subscriberId('publisher.signpost.test', 'its subscriberId; "signpost serve" has no default'),
  PUBLISHER_KEY_ID: optional(name('', 'recordId of its signing key; empty means key-1 or the last rotated')),
  PUBLISHER_PRIVATE_KEY: seed('its Ed25519 seed, 32 bytes in Base64; empty generates one into DATA_DIR/keys'),
  PUBLISHER_URL: optional(url('its public base address; empty means from HOST and PUBLISHER_PORT')),
  PUBLISHER_DOMAIN: optional(text('', 'domain in its Subscriber record; empty means that of PUBLISHER_URL')),
  PUBLISHER_COUNTRIES: list('', 'countries in its Subscriber record, comma-separated, such as IND'),
  PUBLISHER_DIR: optional(
    text('', 'its directory, with the files in public; empty means DATA_DIR/publisher'),
  ),
  CATALOG_BASE_URL: optional(url('base address of the files (catalogBaseURL); empty means PUBLISHER_URL')),
  WIRE_PROFILE: choice(
    ['spec', 'nfh014'],
    'spec',
    'form of published files: digests, signatures and what they sign, pausing; nfh014 for networks whose crawlers are Beckn-ONIX nodes',
  ),
  NEXT_UPDATE_SECONDS: seconds(86_400, 'time until the announced next update', { min: 1, max: 31_536_000 }),
  COMPACTION_CHANGES: integer(20, 'number of change files at which a new baseline is written', { min: 1 }),
  COMPACTION_FRACTION: decimal(0.5, 'write a new baseline if the changes exceed this fraction of it'),
  CRAWL_HINT_URLS: jsonList(
    '[]',
    'base addresses of discovery services that get a hint to crawl after each publish: ["https://…"]',
    readBaseAddress,
  ),

  CONSUMER_ID: subscriberId('consumer.signpost.test', 'signing identity of "signpost discover"'),
  CONSUMER_KEY_ID: name('key-1', 'recordId of its signing key'),
  CONSUMER_PRIVATE_KEY: seed('its Ed25519 seed, 32 bytes in Base64; empty generates one into DATA_DIR/keys'),
  CONSUMER_URL: optional(url('its public base address; empty means where the command waits for answers')),

  DEFAULT_NETWORK_ID: networkId('nfh.global/beckn-nodes', 'network of catalogs that name no network'),
  MASTER_PUBLISHERS: list(
    'facilitator',
    'who may publish MASTER catalogs: facilitator (in each network, the participant whose namespace is the first half of the network id), * (anyone), or subscriberIds',
  ),
  NETWORK_MEMBERSHIP: choice(
    ['off', 'enforce'],
    'off',
    'enforce: publishers name only networks that they are in',
  ),
  UNKNOWN_CONTEXT: choice(['accept', 'reject'], 'accept', 'attributes whose schema is not known'),
  PUBLISH_WARNINGS: flag(
    true,
    'send warnings in on_publish (results[].warnings); publishers whose schemas refuse them get strict form without them',
  ),
  SCHEMA_DIR: optional(text('', 'directory with more domain schemas; empty means only the bundled ones')),
  SCHEMA_HOSTS: list('', 'hosts that unknown domain schemas may be fetched from, comma-separated'),
  SCHEMA_ALIASES: jsonObject(
    'further addresses of domain schemas: {"prefix of addresses": "prefix that replaces it"}',
    readSchemaAliases,
  ),
  HISTORY_DAYS: days(
    30,
    'how long the change history, processed publishes, delivered callbacks and withdrawn pushes are kept; the latest change of a catalog is always kept',
  ),
  PARKED_DAYS: days(
    90,
    'how long parked callbacks are kept, and parked pushes to discovery services that have cancelled their subscriptions',
  ),
  REGISTRY_HISTORY_DAYS: days(1825, 'how long past versions of registry records are kept'),
  AUDIT_LOG_DAYS: days(365, 'how long entries of the audit log are kept'),
  HEALTH_DAYS: days(7, "how long the console's figures per minute are kept"),
  EMPTY_SEARCH_DAYS: days(7, 'how long the console keeps searches that found nothing, at most 1000 of them'),

  BODY_SIZE_LIMIT: size('5mb', 'largest body of a publish or another ordinary request'),
  INHERITED_RESOURCE_LIMIT: size('1mb', 'most that one resource inherits: the size of its template'),
  INHERITED_CATALOG_LIMIT: size('64mb', 'most that the resources of one catalog inherit together'),
  INHERITED_PUBLISH_LIMIT: size('128mb', 'most that the resources of one publish inherit together'),
  INHERITED_PUBLISHER_LIMIT: size('1gb', 'most that all catalogs of a publisher or crawled node inherit'),
  BULK_BODY_SIZE_LIMIT: size('16mb', 'largest body of a push, an on_pull or an on_discover'),
  CLOCK_SKEW_SECONDS: seconds(60, 'how far in the future a signature may have been created', { max: 3_600 }),
  MAX_SIGNATURE_SECONDS: seconds(7200, 'longest time from created to expires', { min: 1, max: 604_800 }),
  RATE_LIMIT_PER_SECOND: integer(
    200,
    'requests per second and identity (burst: twice that); a publish counts once per catalog; 0 means no limit',
  ),
  MAX_CONNECTIONS: integer(5000, 'most connections per port, and as many again from proxies', { min: 1 }),
  MAX_CONNECTIONS_PER_SOURCE: integer(
    500,
    'most open connections per port and source address (IPv6: /64); behind TRUSTED_PROXIES, requests of one client at a time',
    { min: 1 },
  ),
  TIME_LIMIT_MS_PER_SECOND: milliseconds(
    500,
    'time of the main thread per second and identity, to read requests (burst: 30 times that); 0 means no limit',
  ),
  BYTE_LIMIT_PER_SECOND: size(
    '64mb',
    'bytes of bodies per second and identity (burst: 30 times that); for on_discover an eighth of it (burst: twice that); 0 means no limit',
  ),
  OVERLOAD_WAITING_CONNECTIONS: integer(200, 'refuse requests while more wait for the database', { min: 1 }),
  OVERLOAD_EVENT_LOOP_MS: milliseconds(1000, 'event-loop delay above which new requests get NET_OVERLOADED', {
    min: 10,
    max: 600_000,
  }),
  OVERLOAD_BACKLOG: integer(
    10_000,
    'unprocessed publishes of all publishers above which the publishers with the most get NET_OVERLOADED',
    { min: 1 },
  ),
  PUBLISHER_BACKLOG: integer(1000, 'most unprocessed publishes of one publisher', { min: 1 }),
  PUBLISHER_BACKLOG_BYTES: size('64mb', 'most bytes of unprocessed publishes of one publisher'),
  ALLOW_PRIVATE_ADDRESSES: flag(false, 'accept private addresses and plain HTTP of others (development)'),
  REQUIRE_CALLBACK_CHAIN: flag(false, 'refuse callbacks whose signature does not name their request'),
  CHECK_CALLBACK_ORIGIN: flag(true, 'refuse callback addresses of another origin than the registry record'),

  RETRY_BASE_MS: milliseconds(1000, 'first delay of a retry; doubles to 5 minutes', { min: 1, max: 300_000 }),
  RETRY_HOURS: decimal(24, 'how long to retry a delivery before parking it', { unit: 'hours', max: 8_760 }),
  PULL_INLINE_LIMIT: size('1mb', 'largest pull result that is sent inline; a larger one becomes a download'),
  DOWNLOAD_TTL_SECONDS: seconds(3600, 'how long a download can be fetched', { min: 1, max: 2_592_000 }),
} as const satisfies Record<string, Kind<unknown>>;

/** Other spellings of settings in the specification (self-hosted spec: Endpoints). */
export const otherSpellings: Readonly<Record<string, keyof typeof settings>> = {
  catalogBaseURL: 'CATALOG_BASE_URL',
};

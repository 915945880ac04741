// Writes docs/settings.md, which lists every setting, and .env.example, which lists those that operators usually set. Both are generated from the
// table of settings, as built in dist/. With --check, writes nothing: exit code 1 if a file differs.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { settings } from '../dist/setting-table.js';

/** Every setting is in one group. `often` is in .env.example. */
const groups = [
  {
    title: 'Process',
    who: 'every role',
    often: words('ROLES WORKERS HOST TRUSTED_PROXIES OPERATIONS_HOST OPERATIONS_PORT DATA_DIR LOG_LEVEL'),
    seldom: words('LOG_FORMAT DNS_SERVERS ALLOW_PRIVATE_ADDRESSES'),
  },
  {
    title: 'Database',
    who: 'registry, catalog, discovery, console',
    often: words('DATABASE_URL DATABASE_CONNECTIONS'),
    seldom: words('EMBEDDED_DATABASE TRANSACTION_LIMIT_SECONDS'),
  },
  {
    title: 'Registry',
    who: 'every role',
    often: words('REGISTRY_URL REGISTRY_NAME REGISTRY_PORT'),
    seldom: [],
  },
  {
    title: 'Catalog service',
    who: 'catalog',
    often: words('CATALOG_ID CATALOG_URL CATALOG_PORT CATALOG_KEY_ID CATALOG_PRIVATE_KEY'),
    seldom: words(`
      PUBLISH_WARNINGS PULL_INLINE_LIMIT DOWNLOAD_TTL_SECONDS OVERLOAD_BACKLOG PUBLISHER_BACKLOG
      PUBLISHER_BACKLOG_BYTES`),
  },
  {
    title: 'Discovery service',
    who: 'discovery',
    often: words(`
      DISCOVERY_ID DISCOVERY_URL DISCOVERY_PORT DISCOVERY_KEY_ID DISCOVERY_PRIVATE_KEY
      DISCOVERY_SUBSCRIPTIONS DISCOVERY_NETWORKS DISCOVERY_NODES`),
    seldom: [],
  },
  {
    title: 'Search',
    who: 'discovery',
    often: words('DATABASE_READ_URL'),
    seldom: words(`
      SEARCH_LANGUAGES SEARCH_CACHE_PERCENT DISCOVER_TIMEOUT_MS DISCOVER_MAX_LAG_MS DISCOVER_CONCURRENCY
      ACCEPT_POSTFIX_FILTERS SEARCH_INDEX OPENSEARCH_URL OPENSEARCH_USER OPENSEARCH_PASSWORD
      OPENSEARCH_API_KEY OPENSEARCH_CA_FILE OPENSEARCH_PREFIX OPENSEARCH_SHARDS`),
  },
  {
    title: 'Crawler',
    who: 'discovery',
    often: [],
    seldom: words(`
      CRAWL_INTERVAL_SECONDS CRAWL_MIN_INTERVAL_SECONDS CUTOVER_FRACTION REQUIRE_MANIFEST
      ALLOW_UNSIGNED_INDEX UNCONFIRMED CRAWL_FETCH_TIMEOUT_MS CRAWL_FILE_LIMIT CRAWL_INDEX_LIMIT
      CRAWL_INFLATED_LIMIT CRAWL_MEMORY_LIMIT CRAWL_DAILY_LIMIT CRAWL_MAX_INDEXES CRAWL_MAX_ENTRIES
      CRAWL_MAX_CHANGES CRAWL_MAX_MASTERS CRAWL_MAX_RESOURCES`),
  },
  {
    title: 'Publisher',
    who: 'publisher',
    often: words(
      'PUBLISHER_ID PUBLISHER_URL PUBLISHER_PORT PUBLISHER_PRIVATE_KEY CATALOG_BASE_URL CRAWL_HINT_URLS',
    ),
    seldom: words(`
      PUBLISHER_KEY_ID PUBLISHER_DOMAIN PUBLISHER_COUNTRIES PUBLISHER_DIR PUBLISHER_TRIGGER_HOST
      PUBLISHER_TRIGGER_PORT PUBLISHER_TRIGGER_TOKEN WIRE_PROFILE NEXT_UPDATE_SECONDS COMPACTION_CHANGES
      COMPACTION_FRACTION SYNC_SECONDS`),
  },
  {
    title: 'Console',
    who: 'console',
    often: words('CONSOLE_HOST CONSOLE_PORT OPERATOR_TOKEN'),
    seldom: words('MAP_TILES'),
  },
  {
    title: 'Rules for catalogs',
    who: 'catalog, discovery, console',
    often: words('DEFAULT_NETWORK_ID NETWORK_MEMBERSHIP MASTER_PUBLISHERS'),
    seldom: words(`
      UNKNOWN_CONTEXT SCHEMA_DIR SCHEMA_HOSTS SCHEMA_ALIASES INHERITED_RESOURCE_LIMIT
      INHERITED_CATALOG_LIMIT INHERITED_PUBLISH_LIMIT INHERITED_PUBLISHER_LIMIT`),
  },
  {
    title: 'Connections',
    who: 'registry, catalog, discovery, publisher',
    often: [],
    seldom: words('MAX_CONNECTIONS MAX_CONNECTIONS_PER_SOURCE'),
  },
  {
    title: 'Signed requests',
    who: 'catalog, discovery, publisher',
    often: words('RATE_LIMIT_PER_SECOND'),
    seldom: words(`
      BODY_SIZE_LIMIT BULK_BODY_SIZE_LIMIT TIME_LIMIT_MS_PER_SECOND BYTE_LIMIT_PER_SECOND
      CLOCK_SKEW_SECONDS MAX_SIGNATURE_SECONDS REQUIRE_CALLBACK_CHAIN`),
  },
  {
    title: 'Overload and callbacks',
    who: 'catalog, discovery',
    often: [],
    seldom: words(
      'OVERLOAD_WAITING_CONNECTIONS OVERLOAD_EVENT_LOOP_MS CHECK_CALLBACK_ORIGIN RETRY_BASE_MS RETRY_HOURS',
    ),
  },
  {
    title: 'Retention',
    who: 'registry, catalog, discovery, console',
    often: [],
    seldom: words(`
      HISTORY_DAYS PARKED_DAYS CRAWL_LOG_DAYS REGISTRY_HISTORY_DAYS AUDIT_LOG_DAYS HEALTH_DAYS
      EMPTY_SEARCH_DAYS`),
  },
  {
    title: 'OpenTelemetry',
    who: 'every role',
    often: words('OTEL_EXPORTER_OTLP_ENDPOINT'),
    seldom: words('OTEL_SERVICE_NAME OTEL_METRIC_EXPORT_INTERVAL OTEL_SDK_DISABLED'),
  },
  {
    title: 'Commands',
    who: 'commands, console',
    often: [],
    seldom: words('CONSUMER_ID CONSUMER_KEY_ID CONSUMER_PRIVATE_KEY CONSUMER_URL DEMO_PORT'),
  },
];

checkGroups();
const files = { 'docs/settings.md': renderPage(), '.env.example': renderExample() };
const pathOf = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
for (const [name, text] of Object.entries(files)) {
  if (!process.argv.includes('--check')) writeFileSync(pathOf(name), text);
  else if (readFileSync(pathOf(name), 'utf8') !== text) {
    console.error(`${name} differs: run npm run build && node scripts/settings-files.mjs`);
    process.exitCode = 1;
  }
}

function words(text) {
  return text.trim().split(/\s+/);
}

function checkGroups() {
  const grouped = groups.flatMap(({ often, seldom }) => [...often, ...seldom]);
  const wrong = [
    ...Object.keys(settings).filter((name) => grouped.filter((other) => other === name).length !== 1),
    ...grouped.filter((name) => !Object.hasOwn(settings, name)),
  ];
  if (wrong.length > 0)
    throw new Error(`Every setting must be in one group of scripts/settings-files.mjs: ${wrong.join(', ')}`);
}

function renderExample() {
  const parts = groups
    .filter(({ often }) => often.length > 0)
    .map(({ title, who, often }) => {
      const entries = often.map((name) => {
        const { about, unit, fallback } = settings[name];
        return `# ${about}${unit ? ` [${unit}]` : ''}\n#${name}=${fallback}\n`;
      });
      return `## ${title} (${who})\n\n${entries.join('\n')}`;
    });
  return `# The settings that operators usually set, each with its default. docs/settings.md lists all settings.
# Copy this file to .env, or set them in the environment.\n\n${parts.join('\n')}`;
}

function renderPage() {
  const tables = groups.map(({ title, who, often, seldom }) => {
    const rows = [...often, ...seldom].map((name) => {
      const { about, unit = '', fallback } = settings[name];
      const shown = often.includes(name) ? `**${name}**` : name;
      const cells = [
        shown,
        isSize(unit) ? 'size' : escapeCell(unit),
        fallback && `\`${fallback}\``,
        markNames(escapeCell(about)),
      ];
      return `| ${cells.join(' | ')} |\n`;
    });
    return `## ${title}\n\nRead by: ${who}.\n\n| setting | unit | default | meaning |\n|---|---|---|---|\n${rows.join('')}`;
  });
  return `<!-- Made by scripts/settings-files.mjs from src/setting-table.ts. -->

# Settings

Settings are environment variables, or lines of a \`.env\` file in the working directory. An empty value means the default. Operators usually set those in bold, which are also in [.env.example](../.env.example).

\`signpost config list\` shows which are set. \`signpost config check\` reports those that are wrong, unknown or dangerous.

A secret may also be in a file, as orchestrators mount them: \`DATABASE_URL_FILE\`, \`CATALOG_PRIVATE_KEY_FILE\`, \`OPERATOR_TOKEN_FILE\` and so on name it.

Sizes are binary: \`1kb\` is 1,024 bytes. "Needed by" names the roles that read a setting; commands that do the work of a role read the same.

${tables.join('\n')}`;
}

function isSize(unit) {
  return unit.startsWith('bytes, or with');
}

/** For a cell of a Markdown table. */
function escapeCell(text) {
  return text.replaceAll(/[|*<]/g, '\\$&');
}

function markNames(text) {
  return text.replaceAll(/\b[A-Z]+_[A-Z_]*[A-Z]\b/g, (name) =>
    Object.hasOwn(settings, name) ? `\`${name}\`` : name,
  );
}

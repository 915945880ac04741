import { readdirSync, readFileSync } from 'node:fs';

// Which documents of the repository the site has, in which order: the sidebar. A test fails where a document is in none of the sections.

export interface Section {
  title: string;
  /** Documents by their paths in the repository, each with its title in the sidebar. */
  pages: Readonly<Record<string, string>>;
  isCollapsed?: boolean;
}

/** The API documents that are shown in a viewer. */
export const apiDocuments = {
  catalog: 'Catalog service',
  discovery: 'Discovery service',
  publisher: 'Publisher',
  trigger: "Publisher's trigger",
  consumer: 'Consumer',
};

export const sections: readonly Section[] = [
  { title: 'Start', pages: { 'README.md': 'What it is, and a first look' } },
  {
    title: 'Run',
    pages: {
      'docs/run-a-catalog-service.md': 'Run a catalog service',
      'docs/run-a-discovery-service.md': 'Run a discovery service',
      'deploy/README.md': 'Deployment',
    },
  },
  {
    title: 'Publish',
    pages: {
      'docs/publishing.md': 'Publish through the API',
      'docs/self-hosting.md': 'Publish from your own storage',
      'docs/prices-and-offers.md': 'Prices, opening hours and offers',
      'docs/master-catalogs.md': 'Master catalogs',
      'docs/importing.md': 'Import charging stations',
      'docs/charging.md': 'Charging operators: prices',
      'docs/domain-schemas.md': 'Bring a domain schema',
    },
  },
  {
    title: 'Query',
    pages: {
      'docs/query-as-an-app.md': 'Query as an app',
      'docs/agents.md': 'Let an assistant ask',
      'packages/client/README.md': 'Client for Node',
      'examples/python/README.md': 'Client for Python',
    },
  },
  {
    title: 'Join',
    pages: {
      'docs/join-a-network.md': 'Join a network',
      'docs/beside-onix.md': 'Work with Beckn-ONIX',
      'docs/conformance-checks.md': 'Check a node',
    },
  },
  {
    title: 'Operate',
    pages: {
      'docs/troubleshooting.md': 'Troubleshooting',
      'docs/operating.md': 'Operating',
      'docs/settings.md': 'Settings',
      'docs/observability.md': 'Observability',
      'docs/scaling.md': 'Scaling',
      'SECURITY.md': 'Security and threat model',
      'docs/versions.md': 'Versions and upgrades',
      'CHANGELOG.md': 'Changes',
    },
  },
  {
    title: 'Reference',
    pages: {
      'docs/api/README.md': 'API as files',
      'vectors/README.md': 'Test vectors',
      'docs/index-format.md': 'Format of the search index',
      'CONFORMANCE.md': 'Conformance, clause by clause',
      'ARCHITECTURE.md': 'Architecture and glossary',
      'CONTRIBUTING.md': 'Contributing',
      'CODE_OF_CONDUCT.md': 'Code of conduct',
      'GOVERNANCE.md': 'Governance',
      'ROADMAP.md': 'Roadmap',
    },
  },
  { title: 'Decisions', pages: listDecisions(), isCollapsed: true },
  {
    title: 'Benchmarks',
    pages: {
      'bench/README.md': 'How they are run',
      'bench/RESULTS.md': 'Results',
    },
    isCollapsed: true,
  },
];

/** The address of a document on the site, from its path in the repository. */
export const addressOf = (document: string) => document.replace(/(^|\/)README\.md$/, '$1index.md');

/** Each has its number and title in the first line. */
function listDecisions(): Record<string, string> {
  const folder = new URL('../adr/', import.meta.url);
  const names = readdirSync(folder).sort();
  return Object.fromEntries(
    names.map((name) => {
      const [heading = ''] = readFileSync(new URL(name, folder), 'utf8').split('\n');
      return [`adr/${name}`, name === 'README.md' ? 'All decisions' : heading.replace(/^# /, '')];
    }),
  );
}

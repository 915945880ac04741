import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { type Security, unpackSecurityPlugin } from '../../../scripts/opensearch.mjs';
import { certificate, key } from '../network/tls-host.ts';
import { type Cluster, startCluster } from './open-search.ts';

// OpenSearch with its security plugin: TLS, and one user who has no other rights than those of docs/scaling.md.

export const securedPrefix = 'secured';
export const securedUser = 'signpost';
export const securedPassword = 'pass-1f0c9b';
/** Of the password, by bcrypt. */
const hash = '$2b$05$abcdefghijklmnopqrstuupZEK10TrK88LL.DAojIOF44fI4zDYcW';

export function startSecuredCluster(): Promise<Cluster> {
  return startCluster({ security: { settings, install, isReady } });
}

const files = { certificate: 'certificate.pem', key: 'key.pem' };
const settings = [
  ...['transport', 'http'].flatMap((layer) => [
    `plugins.security.ssl.${layer}.pemcert_filepath: ${files.certificate}`,
    `plugins.security.ssl.${layer}.pemkey_filepath: ${files.key}`,
    `plugins.security.ssl.${layer}.pemtrustedcas_filepath: ${files.certificate}`,
  ]),
  'plugins.security.ssl.http.enabled: true',
  'plugins.security.ssl.transport.enforce_hostname_verification: false',
  'plugins.security.allow_default_init_securityindex: true',
];

function install({ classPath, home, settings: folder }: Parameters<Security['install']>[0]) {
  const plugin = join(home, 'plugins', 'opensearch-security');
  mkdirSync(plugin, { recursive: true });
  unpackSecurityPlugin(plugin, classPath);
  writeFileSync(join(folder, files.certificate), certificate);
  writeFileSync(join(folder, files.key), key);
  const own = join(folder, 'opensearch-security');
  mkdirSync(own);
  // As the plugin brings them, but for who may do what. JSON is YAML, too.
  const given = ['action_groups', 'allowlist', 'audit', 'config', 'nodes_dn', 'tenants', 'whitelist'];
  for (const name of given)
    writeFileSync(join(own, `${name}.yml`), readFileSync(join(plugin, 'config', `${name}.yml`)));
  const write = (name: string, type: string, content: object) =>
    writeFileSync(
      join(own, `${name}.yml`),
      JSON.stringify({ _meta: { type, config_version: 2 }, [securedUser]: content }),
    );
  write('internal_users', 'internalusers', { hash });
  write('roles_mapping', 'rolesmapping', { users: [securedUser] });
  write('roles', 'roles', readDocumentedRights());
}

function readDocumentedRights() {
  const document = readFileSync('docs/scaling.md', 'utf8');
  const named = (row: RegExp) =>
    Array.from(row.exec(document)?.[1]?.matchAll(/`([^`]+)`/g) ?? [], ([, name]) => name);
  return {
    cluster_permissions: named(/^\| the cluster \| (.*) \|$/m),
    index_permissions: [
      {
        index_patterns: [securedPrefix, `${securedPrefix}-*`],
        allowed_actions: named(/^\| indexes `<prefix>` and `<prefix>-\*` \| (.*) \|$/m),
      },
    ],
  };
}

/** Until it knows its users, it answers 503. */
function isReady(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(url, { ca: certificate }, (response) => {
      response.resume();
      resolve(response.statusCode === 401);
    });
    asked.on('error', () => resolve(false)).end();
  });
}

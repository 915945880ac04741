import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { freePort } from '../free-port.ts';
import { certificate, key } from '../network/tls-host.ts';
import { until } from '../time.ts';
import { endWithUs } from './child-process.ts';

// nginx and Caddy as packaged by Debian, with the configuration of deploy/; only names, certificates and ports are replaced.

export interface ReverseProxy {
  /** The https addresses of the services behind it. */
  catalog: Site;
  discovery: Site;
  stop(): Promise<void>;
}

interface Site {
  host: string;
  port: number;
}

/** The ports of the services behind it. */
export interface Upstreams {
  catalog: number;
  discovery: number;
}

export async function startNginx(upstreams: Upstreams): Promise<ReverseProxy> {
  const directory = mkdtempSync(join(tmpdir(), 'signpost-nginx-'));
  const [port, plainPort] = [await freePort(), await freePort()];
  const ours = readFileSync('deploy/nginx/signpost.conf', 'utf8')
    .replaceAll('listen 443 ', `listen 127.0.0.1:${port} `)
    .replace('listen 80;', `listen 127.0.0.1:${plainPort};`)
    .replaceAll(/ssl_certificate [^;]+;/g, `ssl_certificate ${directory}/cert.pem;`)
    .replaceAll(/ssl_certificate_key [^;]+;/g, `ssl_certificate_key ${directory}/key.pem;`)
    .replace('127.0.0.1:4002', `127.0.0.1:${upstreams.catalog}`)
    .replace('127.0.0.1:4003', `127.0.0.1:${upstreams.discovery}`);
  writeFileSync(join(directory, 'cert.pem'), certificate);
  writeFileSync(join(directory, 'key.pem'), key, { mode: 0o600 });
  writeFileSync(join(directory, 'signpost.conf'), ours);
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${directory}/${kind};`)
    .join(' ');
  writeFileSync(
    join(directory, 'nginx.conf'),
    `daemon off; master_process off; pid ${directory}/pid; error_log stderr;
     events {}
     http { access_log off; ${places} include ${directory}/signpost.conf; }`,
  );
  const stop = await startProxy(directory, port, [
    'nginx',
    '-c',
    join(directory, 'nginx.conf'),
    '-e',
    'stderr',
  ]);
  return {
    catalog: { host: 'catalog.example.org', port },
    discovery: { host: 'discovery.example.org', port },
    stop,
  };
}

export async function startCaddy(upstreams: Upstreams): Promise<ReverseProxy> {
  const directory = mkdtempSync(join(tmpdir(), 'signpost-caddy-'));
  const [catalog, discovery, plainPort] = [await freePort(), await freePort(), await freePort()];
  // Uses separate certificates for localhost, and changes nothing on this machine.
  const test = `{\n\thttp_port ${plainPort}\n\thttps_port ${catalog}\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n`;
  writeFileSync(join(directory, 'Caddyfile'), test + readFileSync('deploy/caddy/Caddyfile', 'utf8'));
  const stop = await startProxy(
    directory,
    catalog,
    ['caddy', 'run', '--adapter', 'caddyfile', '--config', join(directory, 'Caddyfile')],
    {
      CATALOG_SITE: `https://localhost:${catalog}`,
      DISCOVERY_SITE: `https://localhost:${discovery}`,
      CATALOG_UPSTREAM: `127.0.0.1:${upstreams.catalog}`,
      DISCOVERY_UPSTREAM: `127.0.0.1:${upstreams.discovery}`,
    },
  );
  return {
    catalog: { host: 'localhost', port: catalog },
    discovery: { host: 'localhost', port: discovery },
    stop,
  };
}

async function startProxy(
  directory: string,
  port: number,
  [command = '', ...args]: readonly string[],
  env: Record<string, string> = {},
): Promise<() => Promise<void>> {
  const child = spawn(command, args, {
    env: { PATH: searchPath, HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  endWithUs(child);
  let said = '';
  child.stderr.on('data', (chunk) => (said += chunk));
  const ended = once(child, 'close');
  const isUp = async () => {
    if (child.exitCode !== null) throw new Error(`${command} ended: ${said}`);
    return ask({ host: 'localhost', port }, { path: '/' }).then(
      () => true,
      () => false,
    );
  };
  await until(isUp, `${command} to listen`);
  return async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(directory, { recursive: true, force: true });
  };
}

export interface Asked {
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: Buffer;
}

/** From 127.0.0.2, so that client and proxy have different addresses. Certificates are not under test. */
export function ask({ host, port }: Site, { path, method = 'GET', headers, body }: Asked) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }>(
    (resolve, reject) => {
      const asked = request(
        {
          ...{ host: '127.0.0.1', port, path, method, servername: host, rejectUnauthorized: false },
          ...{ localAddress: '127.0.0.2', agent: false },
          headers: {
            host: host === 'localhost' ? `localhost:${port}` : host,
            ...(body && { 'content-type': 'application/json', 'content-length': body.length }),
            ...headers,
          },
        },
        (response) =>
          buffer(response).then(
            (bytes) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: bytes }),
            reject,
          ),
      );
      asked.on('error', reject).end(body);
    },
  );
}

/** Debian keeps servers in directories that are only in root's PATH. */
export const searchPath = `${process.env.PATH}:/usr/sbin:/sbin`;

export function hasCommand(name: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { env: { PATH: searchPath }, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

import { statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import { type OpenedFile, openFile, sendFile } from '../http/send-file.ts';
import { notFound } from './errors.ts';
import { addRoute } from './route.ts';

/** GET /tiles/…: serves byte ranges of the PMTiles file of MAP_TILES. */
export function addTileRoute(server: FastifyInstance, { MAP_TILES: file }: Pick<Config, 'MAP_TILES'>): void {
  if (file === undefined) return;
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new Error(`MAP_TILES does not name a file: ${resolve(file)}`);
  const name = basename(file);
  addRoute(server, 'GET /tiles/:name', {
    summary: 'Fetch a part of the map (MAP_TILES).',
    tag: 'Page',
    answers: { 206: 'The requested range.', 404: 'There are no such tiles.' },
    access: 'open',
    async handle({ params }, request, reply) {
      const opened = params.name === name ? await openTiles(file) : undefined;
      if (!opened) throw notFound('There are no such tiles.');
      const form = { contentType: 'application/octet-stream', isVersioned: false, now: new Date() };
      return sendFile(opened, form, request, reply);
    },
  });
}

/** Opens the file of MAP_TILES. A symbolic link is resolved at each request, so that the operator can switch it to a newer file. */
async function openTiles(file: string): Promise<OpenedFile | undefined> {
  const real = await realpath(file).catch(() => undefined);
  return real === undefined ? undefined : openFile(dirname(real), basename(real));
}

export function tilesUrl({ MAP_TILES: file }: Pick<Config, 'MAP_TILES'>): string | undefined {
  return file === undefined ? undefined : `/tiles/${encodeURIComponent(basename(file))}`;
}

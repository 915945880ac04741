import { titled } from '../../protocol/shapes.ts';
import { type Static, Type } from '../../protocol/type.ts';

const Identity = Type.Object({
  id: Type.String(),
  keyId: Type.Optional(Type.String()),
  url: Type.Optional(Type.String()),
  keyFile: Type.Optional(
    Type.String({ description: 'Of the consumer: the file on this machine that has the seed of its key.' }),
  ),
});

export const Session = titled('Session', {
  operator: Type.Optional(
    Type.Object(
      { name: Type.String(), role: Type.Enum(['read', 'operate', 'publish']) },
      { description: 'The operator that sent the request; absent for everybody else.' },
    ),
  ),
  needsToken: Type.Boolean({
    description:
      'Whether every request needs the token, as on any address that is not loopback. Without a token, the answer has only this member.',
  }),
  version: Type.Optional(Type.String()),
  roles: Type.Optional(Type.Array(Type.String(), { description: 'Of this process.' })),
  networks: Type.Optional(Type.Array(Type.String())),
  defaultNetwork: Type.Optional(Type.String()),
  registryName: Type.Optional(Type.String()),
  registryUrl: Type.Optional(Type.String()),
  identities: Type.Optional(Type.Record(Type.String(), Identity)),
  publishers: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Identities whose keys this machine has, besides its services: each of them can publish here.',
    }),
  ),
  can: Type.Optional(
    Type.Object({ publishToService: Type.Boolean(), publishFiles: Type.Boolean(), crawl: Type.Boolean() }),
  ),
  mapTiles: Type.Optional(Type.String({ description: 'Address of the PMTiles file of MAP_TILES.' })),
  demo: Type.Optional(Type.Boolean()),
  demoCity: Type.Optional(
    Type.Object({
      name: Type.String(),
      center: Type.Unsafe<[number, number]>(Type.Array(Type.Number(), { minItems: 2, maxItems: 2 })),
      zoom: Type.Number(),
    }),
  ),
});
export type Session = Static<typeof Session>;

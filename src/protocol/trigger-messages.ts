/** The publisher's local trigger: `POST /catalog/publish` of the same operator, unsigned and synchronous (self-hosted spec: Endpoints). It also retires, pauses and resumes catalogs. */

import { Catalog } from './catalog.ts';
import { PublishDirective } from './publish-messages.ts';
import { closed, closedTitled, ErrorReport, Id, NetworkId, oneOfTexts, titled } from './shapes.ts';
import { MasterDependency } from './signed-files.ts';
import { type Static, Type } from './type.ts';

// A publish message with the defaults of the trigger, which are others than those of a catalog service.

const TriggerCatalog = {
  ...Catalog,
  title: 'TriggerCatalog',
  properties: {
    ...Catalog.properties,
    isActive: Type.Optional(Type.Boolean({ description: 'Omitted: as published; a new catalog is active.' })),
  },
};

const TriggerDirective = closedTitled('TriggerDirective', {
  ...PublishDirective.properties,
  updateMode: Type.Optional(
    oneOfTexts(['MERGE', 'FULL'], {
      default: 'FULL',
      description:
        'FULL: the catalog of the request is the whole catalog. If updateMode is omitted, warnings name what this removes. MERGE upserts by id and keeps what the request does not name.',
    }),
  ),
  visibleTo: Type.Optional(
    Type.Array(NetworkId, {
      minItems: 1,
      description: 'Omitted: every discovery service that crawls the index; a MERGE keeps what is published.',
    }),
  ),
  dependencies: Type.Optional(
    closed(
      { masters: Type.Array(MasterDependency) },
      {
        description:
          'Only for REGULAR catalogs: the MASTER catalogs of other nodes whose resources this one extends. Written into the entry as given; those of the same node are added.',
      },
    ),
  ),
});

const TriggerMessage = closedTitled('TriggerMessage', {
  catalogs: Type.Array(TriggerCatalog, { minItems: 1 }),
  publishDirectives: Type.Optional(
    Type.Array(TriggerDirective, {
      description:
        'At most one per catalog; a catalog without one is REGULAR, whole (FULL), for every discovery service.',
    }),
  ),
});

export const TriggerRequest = closed(
  {
    context: Type.Optional(
      Type.Object(
        { action: Type.Optional(oneOfTexts(['catalog/publish'], { 'x-error-code': 'CTX_ACTION_MISMATCH' })) },
        { description: 'May be a whole context; only its action is used.' },
      ),
    ),
    message: Type.Optional(TriggerMessage),
    retire: Type.Optional(Type.Array(Id, { description: 'Catalogs to retire permanently.' })),
    pause: Type.Optional(Type.Array(Id, { description: 'Catalogs that are not transactable for now.' })),
    resume: Type.Optional(Type.Array(Id, { description: 'Paused catalogs that are transactable again.' })),
    forceBaseline: Type.Optional(Type.Boolean({ description: 'Write a baseline instead of a change file.' })),
  },
  {
    title: 'TriggerRequest',
    anyOf: [
      ...['message', 'retire', 'pause', 'resume'].map((member) => ({ required: [member] })),
      // Alone, it asks for something only where it is true.
      { required: ['forceBaseline'], properties: { forceBaseline: { const: true } } },
    ],
  },
);
export type TriggerRequest = Static<typeof TriggerRequest>;

export const TriggerResult = titled('TriggerResult', {
  catalogId: Type.String(),
  status: oneOfTexts(['ACCEPTED', 'REJECTED']),
  version: Type.Optional(Type.Integer({ description: 'Content version that is published now.' })),
  unchanged: Type.Optional(Type.Boolean({ description: 'True if nothing changed, so nothing was written.' })),
  errors: Type.Optional(Type.Array(ErrorReport)),
});
export type TriggerResult = Static<typeof TriggerResult>;

export const TriggerAnswer = titled('TriggerAnswer', {
  status: oneOfTexts(['COMPLETED', 'FAILED']),
  results: Type.Array(TriggerResult),
  warnings: Type.Optional(Type.Array(Type.String())),
});
export type TriggerAnswer = Static<typeof TriggerAnswer>;

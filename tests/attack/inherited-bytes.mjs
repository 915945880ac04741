// Small catalogs that inherit much: 500 resources that extend a template of 4 MB, which exceeds every limit, and as many as are allowed of a template
// with many members, which costs most to assemble and to index.
const context = 'https://schema.example.org/L/v1/context.jsonld';
const typed = { '@context': context, '@type': 'L' };

const templates = [
  { id: 'large-template', resourceAttributes: { ...typed, text: 'x'.repeat(4_000_000) } },
  { id: 'dense-template', resourceAttributes: { ...typed, ...members(30_000) } },
];
const dependents = [500, 200];

const masterId = 'templates';

function members(count) {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [index.toString(36), 1]));
}

/** The message of a publish, or of the trigger. */
export function masterMessage() {
  return {
    catalogs: [catalogOf(masterId, templates)],
    publishDirectives: [{ catalogId: masterId, catalogType: 'MASTER' }],
  };
}

/** Catalogs of the same number differ in each round. */
export function extendingMessage(number, round) {
  const kind = number % templates.length;
  const { id: masterResourceId } = templates[kind];
  const id = `extending-${number}`;
  const resources = Array.from({ length: dependents[kind] }, (_, index) => ({
    id: `${id}-${index}`,
    resourceAttributes: { ...typed, round },
  }));
  const resourceDirectives = resources.map(({ id: resourceId }) => ({
    resourceId,
    extends: { masterResourceId },
  }));
  return {
    catalogs: [catalogOf(id, resources)],
    publishDirectives: [{ catalogId: id, catalogType: 'REGULAR', resourceDirectives }],
  };
}

function catalogOf(id, resources) {
  return { id, descriptor: { name: id }, provider: { id, descriptor: { name: id } }, resources };
}

import type { Field, FieldsAnswer } from '../../../../src/console/answers/find.ts';
import type { Session } from '../../api/session.ts';
import { hrefTo } from '../../router.ts';
import { type Condition, type FindQuery, toParams } from '../../search/query.ts';

const nothing: FindQuery = { text: '', network: '', type: '', conditions: [], expression: '', offset: 0 };

export function Examples({ fields, city }: { fields?: FieldsAnswer; city?: Session['demoCity'] }) {
  const examples = [
    ...(fields?.types ?? []).slice(0, 4).flatMap((type) => examplesOfType(type)),
    ...(city ? [around(city)] : []),
  ].slice(0, maxExamples);
  if (examples.length === 0) return null;
  return (
    <nav class="examples" aria-label="Examples">
      <span class="soft small">Try</span>
      {examples.map(({ label, query }) => (
        <a key={label} href={hrefTo('find', toParams({ ...nothing, ...query }))}>
          {label}
        </a>
      ))}
    </nav>
  );
}

interface Example {
  label: string;
  query: Partial<FindQuery>;
}

function examplesOfType({ type, label, fields }: FieldsAnswer['types'][number]): Example[] {
  const choice = findChoice(fields);
  const number = fields.find(
    ({ kind, min, max }) => kind === 'number' && min !== undefined && max !== undefined && max > min,
  );
  const [value] = choice?.values ?? [];
  const examples: Example[] = [{ label, query: { type } }];
  if (choice && value) {
    const condition: Condition = { on: 'resource', path: choice.path, operator: '==', value: value.value };
    examples.push({ label: `${choice.label}: ${value.value}`, query: { type, conditions: [condition] } });
  }
  if (number?.min !== undefined && number.max !== undefined) {
    const from = Math.round((number.min + number.max) / 2);
    const condition: Condition = { on: 'resource', path: number.path, operator: '>=', value: from };
    const unit = number.unit ? ` ${number.unit}` : '';
    examples.push({ label: `${number.label} from ${from}${unit}`, query: { type, conditions: [condition] } });
  }
  return examples;
}

/** The field with the most values that still fit into a list, because it divides the resources best. */
function findChoice(fields: readonly Field[]): Field | undefined {
  const count = ({ values }: Field) => values?.length ?? 0;
  return fields
    .filter((field) => field.kind === 'enum' && count(field) > 1 && count(field) <= maxValues)
    .sort((one, other) => count(other) - count(one))[0];
}

const maxValues = 12;

function around({ name, center: [latitude, longitude] }: NonNullable<Session['demoCity']>): Example {
  return {
    label: `2 km around the centre of ${name}`,
    query: { area: { kind: 'circle', latitude, longitude, meters: 2_000 } },
  };
}

const maxExamples = 7;

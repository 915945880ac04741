import type { Field, FieldsAnswer } from '../../../../src/console/answers/find.ts';
import type { Loaded } from '../../api/load.ts';
import { type Condition, type FindQuery, type Operator, withCondition } from '../../search/query.ts';
import { Choice } from '../../ui/choice.tsx';
import { Problem } from '../../ui/states.tsx';
import { spellCount, spellValue } from '../../ui/time.tsx';
import { changeQuery } from './change-query.ts';

export function FilterFields({ query, fields }: { query: FindQuery; fields: Loaded<FieldsAnswer> }) {
  const types = fields.data?.types ?? [];
  const chosen = types.find(({ type }) => type === query.type) ?? (types.length === 1 ? types[0] : undefined);
  const ofType = usefulFirst(chosen?.fields ?? []).map((field) => ({ on: 'resource' as const, field }));
  // If the sample has no offers of a type, uses those of all types.
  const offers = chosen?.offers.length ? chosen.offers : (fields.data?.offers ?? []);
  const offered = offers.map((field) => ({ on: 'offer' as const, field }));
  const rest = [...ofType.slice(fieldsAtFirst), ...offered.slice(1)];
  const renderField = (props: Omit<FieldProps, 'query'>) => (
    <FieldInput key={props.field.path} {...props} query={query} />
  );
  return (
    <>
      {fields.error && <Problem error={fields.error} retry={fields.reload} />}
      <Choice
        class="field"
        label="Resource type"
        all="Any"
        value={query.type}
        options={types.map(({ type, label, resources }) => ({
          value: type,
          label: withCount(label, resources),
        }))}
        choose={(type) =>
          changeQuery(query, { type, conditions: query.conditions.filter(({ on }) => on === 'offer') })
        }
      />
      <div class="filter-grid">
        {[...offered.slice(0, 1), ...ofType.slice(0, fieldsAtFirst)].map(renderField)}
      </div>
      {rest.length > 0 && (
        <details>
          <summary>More fields ({rest.length})</summary>
          <div class="filter-grid">{rest.map(renderField)}</div>
        </details>
      )}
      <label class="field">
        <span>Condition in JSONPath</span>
        <input
          class="mono"
          value={query.expression}
          placeholder='@.descriptor.name == "Bay 1"'
          spellcheck={false}
          onInput={(event) => changeQuery(query, { expression: event.currentTarget.value })}
        />
      </label>
    </>
  );
}

/** Fields that narrow a search come first: choices with several values, and numbers. A text must be typed exactly. */
function usefulFirst(fields: readonly Field[]): Field[] {
  const isUseful = ({ kind, values }: Field) =>
    kind !== 'text' && (kind !== 'enum' || (values?.length ?? 0) > 1);
  return [...fields.filter(isUseful), ...fields.filter((field) => !isUseful(field))];
}

const fieldsAtFirst = 7;

interface FieldProps {
  on: Condition['on'];
  field: Field;
  query: FindQuery;
}

function FieldInput(props: FieldProps) {
  const { field } = props;
  const label = field.unit ? `${field.label} (${field.unit})` : field.label;
  if (field.kind === 'number') return <NumberField {...props} label={label} />;
  if (field.kind === 'text' && !field.values?.length) return <TextField {...props} label={label} />;
  return <ChoiceField {...props} label={label} />;
}

function ChoiceField({ on, field, query, label }: FieldProps & { label: string }) {
  const values: { value: string | boolean; count?: number }[] =
    field.values ?? (field.kind === 'boolean' ? [{ value: true }, { value: false }] : []);
  return (
    <Choice
      class="field"
      label={label}
      all="Any"
      value={String(findValue(query, field, '==') ?? '')}
      options={values.map(({ value, count }) => ({
        value: String(value),
        label: withCount(spellValue(value), count),
      }))}
      choose={(text) => {
        const value = values.find((one) => String(one.value) === text)?.value;
        setCondition(query, { on, path: field.path, operator: '==' }, value);
      }}
    />
  );
}

function withCount(label: string, count?: number): string {
  return count === undefined ? label : `${label} (${spellCount(count)})`;
}

function NumberField({ on, field, query, label }: FieldProps & { label: string }) {
  const bound = (operator: Operator, name: string, extreme?: number) => (
    <input
      type="number"
      step="any"
      aria-label={`${label}, ${name}`}
      placeholder={extreme === undefined ? name : `${signs[operator]} ${shortNumber.format(extreme)}`}
      value={String(findValue(query, field, operator) ?? '')}
      onInput={(event) => {
        const { value, valueAsNumber } = event.currentTarget;
        const number = value === '' || Number.isNaN(valueAsNumber) ? undefined : valueAsNumber;
        setCondition(query, { on, path: field.path, operator }, number);
      }}
    />
  );
  return (
    <fieldset class="field range">
      <legend>{label}</legend>
      {bound('>=', 'from', field.min)}
      {bound('<=', 'to', field.max)}
    </fieldset>
  );
}

/** Placeholders are short, because two number fields share a column: a sign and at most four digits. */
const signs: Record<Operator, string> = { '==': '=', '>=': '≥', '<=': '≤' };
const shortNumber = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 4 });

function TextField({ on, field, query, label }: FieldProps & { label: string }) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        value={String(findValue(query, field, '==') ?? '')}
        onChange={(event) => {
          const text = event.currentTarget.value.trim();
          setCondition(query, { on, path: field.path, operator: '==' }, text === '' ? undefined : text);
        }}
      />
    </label>
  );
}

function findValue(query: FindQuery, { path }: Field, operator: Operator): Condition['value'] | undefined {
  return query.conditions.find((condition) => condition.path === path && condition.operator === operator)
    ?.value;
}

function setCondition(query: FindQuery, condition: Omit<Condition, 'value'>, value?: Condition['value']) {
  changeQuery(query, { conditions: withCondition(query.conditions, condition, value) });
}

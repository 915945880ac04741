import type { Query } from '../api/client.ts';
import type { Area } from '../map/area.ts';

/** The fields of the search form. The address contains all of them, so that a link repeats the search. */
export interface FindQuery {
  text: string;
  network: string;
  type: string;
  conditions: Condition[];
  /** Written by hand: a condition on a resource, or a whole JSONPath from `$`. */
  expression: string;
  area?: Area;
  offset: number;
}

export type Operator = '==' | '>=' | '<=';
export interface Condition {
  on: 'resource' | 'offer';
  path: string;
  operator: Operator;
  value: string | number | boolean;
}

export function readQuery(params: URLSearchParams): FindQuery {
  return {
    text: params.get('text') ?? '',
    network: params.get('network') ?? '',
    type: params.get('type') ?? '',
    conditions: readConditions(params.get('where')),
    expression: params.get('expression') ?? '',
    area: readArea(params),
    offset: Number(params.get('offset') ?? 0) || 0,
  };
}

export function toParams({ conditions, area, offset, ...texts }: FindQuery): Query {
  return {
    ...texts,
    where: conditions.length > 0 ? JSON.stringify(conditions.map(toTuple)) : undefined,
    ...(area?.kind === 'circle' && { near: `${area.latitude},${area.longitude}`, within: area.meters }),
    ...(area?.kind === 'polygon' && { area: area.corners.map((corner) => corner.join()).join(';') }),
    offset: offset > 0 ? offset : undefined,
  };
}

export function isEmpty({ text, type, conditions, expression, area }: FindQuery): boolean {
  return text.trim() === '' && type === '' && conditions.length === 0 && expression.trim() === '' && !area;
}

export function withCondition(
  conditions: readonly Condition[],
  condition: Omit<Condition, 'value'>,
  value?: Condition['value'],
): Condition[] {
  const others = conditions.filter(
    ({ path, operator }) => path !== condition.path || operator !== condition.operator,
  );
  return value === undefined ? others : [...others, { ...condition, value }];
}

function toTuple({ on, path, operator, value }: Condition) {
  return [on, path, operator, value];
}

function readConditions(text: string | null): Condition[] {
  try {
    const tuples = JSON.parse(text ?? '[]') as [Condition['on'], string, Operator, Condition['value']][];
    return tuples.map(([on, path, operator, value]) => ({ on, path, operator, value }));
  } catch {
    return [];
  }
}

function readArea(params: URLSearchParams): Area | undefined {
  const [latitude, longitude] = numbersIn(params.get('near'));
  const meters = Number(params.get('within') ?? 0);
  if (latitude !== undefined && longitude !== undefined && meters > 0)
    return { kind: 'circle', latitude, longitude, meters };
  const corners = (params.get('area') ?? '').split(';').map(numbersIn).filter(isPlace);
  return corners.length >= 3 ? { kind: 'polygon', corners } : undefined;
}

function numbersIn(text: string | null): number[] {
  return (text ?? '')
    .split(',')
    .filter((part) => part.trim() !== '')
    .map(Number)
    .filter(Number.isFinite);
}

function isPlace(numbers: number[]): numbers is [number, number] {
  return numbers.length === 2;
}

// Statements as template literals. A value in the template becomes a parameter of the statement, and only `sql` itself or `raw` can add text: so no
// value is ever read as SQL, and nobody counts `$1`, `$2`.

export class Sql {
  /** One more than the values: the texts before, between and after them. */
  readonly texts: readonly string[];
  readonly values: readonly unknown[];

  constructor(texts: readonly string[], values: readonly unknown[] = []) {
    this.texts = texts;
    this.values = values;
  }

  get text(): string {
    return this.texts.reduce((text, next, place) => `${text}$${place}${next}`);
  }
}

export function sql(texts: readonly string[], ...parts: readonly unknown[]): Sql {
  const [first = '', ...others] = texts;
  const joined = [first];
  const values: unknown[] = [];
  const append = (text: string) => joined.push((joined.pop() ?? '') + text);
  for (const [index, part] of parts.entries()) {
    const statement = part instanceof Sql ? part : value(part);
    const [head = '', ...rest] = statement.texts;
    append(head);
    joined.push(...rest);
    values.push(...statement.values);
    append(others[index] ?? '');
  }
  return new Sql(joined, values);
}

function value(part: unknown): Sql {
  return new Sql(['', ''], [part]);
}

/** Text of the program: a name, or a part of a statement without values. */
export function raw(text: string | number): Sql {
  return new Sql([String(text)]);
}

export function join(parts: readonly Sql[], separator: string): Sql {
  if (parts.length === 0) return raw('');
  return sql(['', ...parts.slice(1).map(() => separator), ''], ...parts);
}

/** The columns and values of a new row, for `insert into`. Members have the names of their columns, in camelCase or not. */
export function newRow(row: object): Sql {
  const values = Object.values(row).map((value) => sql`${value}`);
  return sql`(${join(Object.keys(row).map(columnOf), ', ')}) values (${join(values, ', ')})`;
}

/** The same for `update … set`. */
export function assign(row: object): Sql {
  const columns = Object.entries(row).map(([name, value]) => sql`${columnOf(name)} = ${value}`);
  return join(columns, ', ');
}

function columnOf(name: string): Sql {
  // Not by pg: commands without a database do not load it.
  const column = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return raw(`"${column.replaceAll('"', '""')}"`);
}

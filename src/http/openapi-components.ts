import { isJsonObject } from '../protocol/json.ts';
import type { TSchema } from '../protocol/type.ts';

export type JsonSchema = Record<string, unknown>;

/** Schemas with a title, each once. A variant with the same title (another description, say) stays inline. */
export class Components {
  readonly schemas: Record<string, JsonSchema> = {};
  readonly #sources = new Map<string, string>();

  reference(schema: TSchema): JsonSchema {
    return this.inline(plainJson(schema));
  }

  inline(schema: JsonSchema): JsonSchema {
    const { title } = schema;
    if (typeof title !== 'string') return this.#within(schema);
    const source = JSON.stringify(schema);
    const known = this.#sources.get(title);
    if (known !== undefined && known !== source) return this.#within(schema);
    if (known === undefined) {
      this.#sources.set(title, source);
      this.schemas[title] = this.#within(schema);
    }
    return { $ref: `#/components/schemas/${title}` };
  }

  #within(schema: JsonSchema): JsonSchema {
    return mapValues(schema, (value, keyword) => (dataKeywords.has(keyword) ? value : this.#child(value)));
  }

  #child(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#child(item));
    return isJsonObject(value) ? this.inline(value) : value;
  }
}

/** Keywords that hold values, not schemas. */
const dataKeywords = new Set(['examples', 'example', 'default', 'enum', 'const']);

export function mapValues<V, R>(members: Record<string, V>, change: (value: V, name: string) => R) {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value, name)]));
}

/** A TypeBox schema has internal marks; its JSON form is the schema. */
export function plainJson(schema: TSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema));
}

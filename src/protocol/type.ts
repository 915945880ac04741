/**
 * The builder of our schemas, and the types that go with it. Everything else imports it from here: TypeBox comes as 700 files, which take a quarter of a
 * second to load, and the build bundles what is used of them into this one (build/vite.config.ts).
 */
export {
  type Static,
  type TObject,
  type TObjectOptions,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
  Type,
} from 'typebox';

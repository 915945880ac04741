/** The builder of our schemas. TypeBox has 700 files, which take a quarter of a second to load: the build bundles the used ones into this module (build/vite.config.ts). */
export {
  type Static,
  type TObject,
  type TObjectOptions,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
  Type,
} from 'typebox';

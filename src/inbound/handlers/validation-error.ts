/**
 * Errors of zod, joi, yup, ajv, TypeBox, valibot, arktype, superstruct and Sequelize. Not those of JSON.parse: a handler
 * meets them in other servers' answers, and an error page instead of JSON is gone a minute later.
 */
const VALIDATION_NAMES = new Set([
  'ZodError',
  '$ZodError',
  'ValidationError',
  'SequelizeValidationError',
  'PrismaClientValidationError',
  'ValiError',
  'StructError',
  'TraversalError',
  'ArkErrors',
  'AssertError',
  'AjvError',
  'ParseError',
  'TypeBoxError',
  'TransformDecodeError',
  'TransformDecodeCheckError',
]);

/** got has a ParseError too, which is that of JSON.parse. */
const GOT_PARSE_ERROR = 'ERR_BODY_PARSE_FAILURE';

export function isValidationError(error: object): boolean {
  const { name, code } = error as { name?: unknown; code?: unknown };
  return typeof name === 'string' && VALIDATION_NAMES.has(name) && code !== GOT_PARSE_ERROR;
}

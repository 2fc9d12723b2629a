// Query parameters of short URLs that a workspace keeps (`keptParams`): their names, and their columns in questions.

export const KEPT_PARAMS_MAX = 5
export const KEPT_PARAM_NAME = /^[A-Za-z0-9_.-]{1,40}$/
/** Characters of one value. */
export const KEPT_VALUE_MAX = 128
/** Distinct values of one name in a UTC day of a workspace. Later ones are stored as `OTHER_VALUE`. */
export const KEPT_VALUES_A_DAY = 10_000
export const OTHER_VALUE = '(other)'

/** A kept parameter in filters and groups: `param.ref`. */
export type ParamColumn = `param.${string}`
const PREFIX = 'param.'

export const toParamColumn = (name: string): ParamColumn => `${PREFIX}${name}`

export const isParamColumn = (column: string): column is ParamColumn =>
  column.startsWith(PREFIX) && KEPT_PARAM_NAME.test(column.slice(PREFIX.length))

export const toParamName = (column: ParamColumn): string => column.slice(PREFIX.length)

// Imports and exports as JSON: the API validates requests with these schemas, and its reference is generated from them.

/** The tools whose files an import reads; `towpath` is an export of this product. */
export const IMPORT_SOURCES = [
  'csv',
  'dub',
  'shlink',
  'yourls',
  'kutt',
  'bitly',
  'rebrandly',
  'short.io',
  'sink',
  'towpath',
] as const
export type ImportSourceName = (typeof IMPORT_SOURCES)[number]

export const ON_CONFLICT = ['skip', 'rename', 'fail'] as const
export type OnConflict = (typeof ON_CONFLICT)[number]

export const IMPORT_STATUSES = ['queued', 'running', 'done', 'failed', 'undone'] as const
export type ImportStatus = (typeof IMPORT_STATUSES)[number]

/** The order of day, month and year in dates such as 03/04/2025. Nobody guesses it. */
export const DATE_ORDERS = ['dmy', 'mdy', 'ymd'] as const
export type DateOrder = (typeof DATE_ORDERS)[number]

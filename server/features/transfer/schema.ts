// Imports and exports as JSON: the API validates requests with these schemas, and its reference is generated from them.

import { z } from '@hono/zod-openapi'
import { flag, oneOf, PAGE_PARAMETERS, text, wholeNumber } from '../../lib/api-fields.ts'
import { isTimeZone } from '../../lib/date-range.ts'
import { isCleanText } from '../../lib/text.ts'

/** The tools whose files can be imported; `towpath` is our own export. */
export const LINK_SOURCES = [
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
/** `submissions` is the export of another form service, for one form. */
export const IMPORT_SOURCES = [...LINK_SOURCES, 'submissions'] as const
export type LinkSourceName = (typeof LINK_SOURCES)[number]
export type ImportSourceName = (typeof IMPORT_SOURCES)[number]

export const ON_CONFLICT = ['skip', 'rename', 'fail'] as const
export type OnConflict = (typeof ON_CONFLICT)[number]

export const IMPORT_STATUSES = ['queued', 'running', 'done', 'failed', 'undone'] as const
export type ImportStatus = (typeof IMPORT_STATUSES)[number]

/** The current or last stage of an import. */
export const IMPORT_STAGES = ['check', 'links', 'clicks', 'undo'] as const
export type ImportStage = (typeof IMPORT_STAGES)[number]

export const ROW_KINDS = [
  'link',
  'tag',
  'form',
  'submission',
  'channel',
  'domain',
  'view',
  'settings',
  'utmTemplate',
  'click',
] as const
export type RowKind = (typeof ROW_KINDS)[number]

export const ROW_OUTCOMES = ['created', 'renamed', 'skipped', 'failed', 'kept'] as const
export type RowOutcome = (typeof ROW_OUTCOMES)[number]

/** The order of day, month and year in dates such as 03/04/2025. It is never guessed. */
export const DATE_ORDERS = ['dmy', 'mdy', 'ymd'] as const
export type DateOrder = (typeof DATE_ORDERS)[number]

/** How long an import can be undone. */
export const UNDO_DAYS = 30
/** How long the files of a dry run are kept for its import. */
export const DRY_RUN_FILE_HOURS = 24
/** The most waiting and running imports of a workspace. */
export const OPEN_IMPORTS_MAX = 5
/** The errors shown with an import. Its CSV has all of them. */
export const ERRORS_SHOWN = 1000
/** The errors shown with each import of a list. */
export const ERRORS_LISTED = 5
export const FILE_MAX = 64 * 1024 ** 2
/** The limit of click histories, and of our own exports. */
export const LARGE_FILE_MAX = 1024 ** 3
/**
 * The limit of all files of a workspace's imports on a node: uploads, waiting and running imports, dry runs of the last
 * day.
 */
export const IMPORT_BYTES_OF_WORKSPACE = 2 * LARGE_FILE_MAX
/** The limit of all workspaces together. */
export const IMPORT_BYTES_OF_NODE = 10 * IMPORT_BYTES_OF_WORKSPACE

/** The limit of a JSON body. Files in a form can be larger. */
const TEXT_MAX = 1024 ** 2

const MAPPING_MAX = 100
const HOSTS_MAX = 1000

/** The fields of a link that a `mapping` can name. */
export const MAPPED_FIELDS = [
  'destinationUrl',
  'shortUrl',
  'slug',
  'domain',
  'title',
  'comments',
  'tags',
  'createdAt',
  'archived',
  'startsAt',
  'expiresAt',
  'expiredUrl',
  'clickLimit',
  'password',
  'iosUrl',
  'androidUrl',
  'desktopUrl',
  'clicks',
  'externalId',
] as const
export type MappedField = (typeof MAPPED_FIELDS)[number]

const texts = (what: string, most: number) =>
  z
    .record(z.string(), text(0, 255), {
      error: `must be an object of ${what}`,
    })
    .refine((value) => Object.keys(value).length <= most, `must have at most ${most} entries`)
    .refine(
      (value) => Object.keys(value).every(isCleanText),
      'must not contain NUL or broken Unicode characters',
    )

/** The text of a file, or its JSON. In a multipart form this field is the file. */
const fileContent = (description: string) =>
  z
    .union([z.string().max(TEXT_MAX), z.array(z.unknown()), z.record(z.string(), z.unknown())], {
      error: 'must be a file, its text, or a JSON list or object',
    })
    .openapi({ description })

const reading = {
  mapping: texts('field names and column names', MAPPING_MAX)
    .superRefine((mapping, context) => {
      for (const field of Object.keys(mapping)) {
        if (!(MAPPED_FIELDS as readonly string[]).includes(field))
          context.addIssue({
            code: 'custom',
            path: [field],
            message: `must be one of ${MAPPED_FIELDS.join(', ')}`,
          })
      }
    })
    .optional()
    .openapi({
      description: 'For `csv`: a field of a link → its column, or an empty text for none',
    }),
  dateOrder: oneOf(DATE_ORDERS)
    .optional()
    .openapi({ description: 'The order in dates such as 03/04/2025. Needed where a file has such dates' }),
  timeZone: text(1, 64)
    .refine(isTimeZone, 'must be a time zone such as Europe/Berlin')
    .optional()
    .openapi({ description: 'For times without a time zone; UTC when absent', example: 'UTC' }),
}

export const CreateImport = z
  .strictObject({
    source: oneOf(LINK_SOURCES).optional().openapi({
      description: 'The tool that wrote the file. In a form, it precedes `file`. Required without `from`',
    }),
    file: fileContent('The links: a file of at most 64 MiB').optional(),
    clicks: fileContent('The click history, when it is a separate file: at most 1 GiB').optional(),
    from: wholeNumber(1)
      .optional()
      .openapi({ description: 'A dry run of the last 24 hours. Its files are used instead of `file`' }),
    dryRun: flag().optional().openapi({ description: 'Shows the result without changing anything' }),
    onConflict: oneOf(ON_CONFLICT).optional().openapi({
      description: 'How to handle a link with a taken slug; `skip` when absent. `fail` imports nothing',
    }),
    domainMap: texts('hosts and domains', HOSTS_MAX)
      .optional()
      .openapi({
        description: 'A host of the file → the domain that its links come to',
        example: { 'bit.ly': 'go.example.com' },
      }),
    ...reading,
  })
  .openapi('CreateImport')
export type CreateImportInput = z.infer<typeof CreateImport>

const { from, dryRun } = CreateImport.shape
const { dateOrder, timeZone } = reading

export const ImportSubmissions = z
  .strictObject({
    file: fileContent('The export as CSV or JSON: a file of at most 64 MiB').optional(),
    from,
    dryRun,
    dateOrder,
    timeZone,
  })
  .openapi('ImportSubmissions')
export type ImportSubmissionsInput = z.infer<typeof ImportSubmissions>

export const InspectImport = z
  .strictObject({ file: fileContent('The file, of at most 64 MiB'), ...reading })
  .openapi('InspectImport')
export type InspectImportInput = z.infer<typeof InspectImport>

const ImportErrorShape = z
  .strictObject({
    row: z.int().openapi({ description: 'As a spreadsheet numbers it: the header is row 1' }),
    field: z.string().nullable(),
    value: z.string().nullable(),
    message: z.string(),
  })
  .openapi('ImportError')

/** An item that an undo has kept, and why. */
const KeptItemShape = z
  .strictObject({ kind: z.string(), id: z.int(), name: z.string().nullable(), reason: z.string() })
  .openapi('KeptItem')

export const ImportShape = z
  .strictObject({
    id: z.int(),
    source: z.enum(IMPORT_SOURCES),
    status: z.enum(IMPORT_STATUSES),
    stage: z.enum(IMPORT_STAGES),
    dryRun: z.boolean(),
    onConflict: z.enum(ON_CONFLICT),
    fileName: z.string().nullable(),
    clicksFileName: z.string().nullable(),
    formKey: z.string().nullable().openapi({ description: 'Of `submissions`: the form that gets them' }),
    rows: z.int(),
    created: z.int().openapi({ description: 'With `renamed`' }),
    renamed: z.int(),
    skipped: z.int(),
    failed: z.int(),
    clicks: z.int().openapi({ description: 'Clicks of the history that are new here' }),
    progress: z.number().openapi({ description: 'From 0 to 1' }),
    notices: z.array(z.string()),
    problem: z.string().nullable().openapi({ description: 'Why the import failed' }),
    errors: z
      .array(ImportErrorShape)
      .openapi({ description: `The first ${ERRORS_SHOWN}; in a list, the first ${ERRORS_LISTED}` }),
    kept: z.array(KeptItemShape).openapi({ description: 'Items that an undo has kept' }),
    undoableUntil: z.iso.datetime().nullable(),
    createdAt: z.iso.datetime(),
    startedAt: z.iso.datetime().nullable(),
    finishedAt: z.iso.datetime().nullable(),
    undoneAt: z.iso.datetime().nullable(),
  })
  .openapi('Import')
export type ImportResource = z.infer<typeof ImportShape>

export const ImportRowShape = z
  .strictObject({
    id: z.int(),
    row: z.int(),
    kind: z.enum(ROW_KINDS),
    outcome: z.enum(ROW_OUTCOMES),
    name: z.string().nullable(),
    itemId: z.int().nullable(),
    field: z.string().nullable(),
    value: z.string().nullable(),
    message: z.string().nullable(),
  })
  .openapi('ImportRow')
export type ImportRowResource = z.infer<typeof ImportRowShape>

export const InspectionShape = z
  .strictObject({
    source: z.enum(LINK_SOURCES),
    title: z.string().openapi({ description: 'The tool, as its makers write it' }),
    holds: z.enum(['links', 'clicks']),
    format: z.enum(['csv', 'json', 'sql', 'zip']),
    encoding: z.enum(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252']),
    rows: z.int().openapi({ description: 'Rows that were looked at: all of a file of usual size' }),
    columns: z.array(z.strictObject({ name: z.string(), samples: z.array(z.string()) })),
    mapping: z.record(z.string(), z.string()),
    hosts: z.array(z.strictObject({ host: z.string(), links: z.int() })),
    ambiguousDates: z.boolean(),
    dateSamples: z.array(z.string()),
  })
  .openapi('ImportInspection')
export type InspectionResource = z.infer<typeof InspectionShape>

export const ImportListQuery = z.strictObject(PAGE_PARAMETERS)
export type ImportListQueryInput = z.infer<typeof ImportListQuery>
export const ImportRowsQuery = z.strictObject({
  ...PAGE_PARAMETERS,
  outcome: oneOf(ROW_OUTCOMES).optional(),
  kind: oneOf(ROW_KINDS).optional(),
})
export type ImportRowsQueryInput = z.infer<typeof ImportRowsQuery>
